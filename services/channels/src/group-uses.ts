import { type GroupSetting, groupOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { groupsNamed } from '@natter/permissions';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

const row = z.object({ id: z.number(), permissions: z.record(z.string(), z.any()) });

/** The channels whose permissions name a group; archived ones, which nobody uses, left out. */
export function groupUsesHandlers({ database }: Owner): Handlers {
  return [
    handle(groupOperations.getGroupUses, async ({ meta }, { group_id }) => {
      const channels = await database.any(sql.type(row)`
        SELECT id, permissions FROM channels.channel WHERE realm_id = ${meta.realmId} AND NOT is_archived ORDER BY id`);
      const objections = channels.flatMap(({ id, permissions }) => {
        const settings = Object.entries(permissions as Record<string, GroupSetting>)
          .filter(([, value]) => groupsNamed(value).includes(group_id))
          .map(([name]) => name);
        return settings.length > 0 ? [{ type: 'channel' as const, channel_id: id, settings }] : [];
      });
      return { objections };
    }),
  ];
}
