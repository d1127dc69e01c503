import { badRequest, exportOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { holderOf, requireAdministrator } from '../groups/holder.ts';

const consentRow = z.object({ user_id: z.number(), consented: z.boolean() });

export function exportHandlers({ database }: Owner): Handlers {
  const forAdministrators = async ({ actor }: UserContext): Promise<void> =>
    requireAdministrator(await holderOf(database, actor.userId));
  return [
    handle(exportOperations.getExports, async (context) => {
      await forAdministrators(context);
      return { exports: [] };
    }),

    handle(exportOperations.createExport, async (context) => {
      await forAdministrators(context);
      throw badRequest('This server does not export organizations.');
    }),

    handle(exportOperations.removeExport, async (context) => {
      await forAdministrators(context);
      throw badRequest('Invalid data export ID');
    }),

    handle(exportOperations.getExportConsents, async (context) => {
      await forAdministrators(context);
      const export_consents = await database.any(sql.type(consentRow)`
        SELECT id AS user_id, coalesce((settings->>'allow_private_data_export')::boolean, false) AS consented
        FROM users.account WHERE realm_id = ${context.actor.realmId} AND is_active AND NOT is_bot ORDER BY id`);
      return { export_consents };
    }),
  ];
}
