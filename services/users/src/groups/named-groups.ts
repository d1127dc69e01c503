import { groupOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export function namedGroupsHandlers({ database }: Owner): Handlers {
  return [
    handle(groupOperations.getNamedGroups, async ({ meta }, { group_ids, user_ids }) => {
      // The version first: a copy newer than its version is only fetched once more.
      const { version } = await database.one(sql.type(z.object({ version: z.number() }))`
        SELECT version FROM log.versions(${meta.realmId}, ${sql.array(['groups'], 'text')})`);
      const groups = await database.any(sql.type(
        z.object({ id: z.number(), name: z.string(), isSystem: z.boolean(), isDeactivated: z.boolean() }),
      )`
        SELECT id, name, is_system AS "isSystem", is_deactivated OR is_deactivating AS "isDeactivated"
        FROM users.user_group WHERE realm_id = ${meta.realmId} AND id = ANY(${sql.array(group_ids, 'int4')})`);
      const users = await database.any(sql.type(z.object({ id: z.number() }))`
        SELECT id FROM users.account
        WHERE realm_id = ${meta.realmId} AND is_active AND NOT is_system_bot AND id = ANY(${sql.array(user_ids, 'int4')})`);
      return { version, groups, active_user_ids: users.map(({ id }) => id) };
    }),
  ];
}
