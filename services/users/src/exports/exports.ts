import { badRequest, exportOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';

const consentRow = z.object({ user_id: z.number(), consented: z.boolean() });

export function exportHandlers({ database }: Owner): Handlers {
  return [
    handle(exportOperations.getExports, async () => ({ exports: [] })),

    handleWrite(exportOperations.createExport, async () => {
      throw badRequest('This server does not export organizations.');
    }),

    handleWrite(exportOperations.removeExport, async () => {
      throw badRequest('Invalid data export ID');
    }),

    handle(exportOperations.getExportConsents, async ({ actor }) => {
      const export_consents = await database.any(sql.type(consentRow)`
        SELECT id AS user_id, coalesce((settings->>'allow_private_data_export')::boolean, false) AS consented
        FROM users.account WHERE realm_id = ${actor.realmId} AND is_active AND NOT is_bot ORDER BY id`);
      return { export_consents };
    }),
  ];
}
