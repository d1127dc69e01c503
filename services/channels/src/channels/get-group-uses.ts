import { channelPermissionsSchema, groupOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { groupsNamed } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import type { Service } from '../model/deciding.ts';

const row = z.object({ id: z.number(), permissions: channelPermissionsSchema });

/** The channels whose permissions name a group, without archived ones. */
export function groupUsesHandlers({ owner: { database } }: Service): Handlers {
  return [
    handle(groupOperations.getGroupUses, async ({ meta }, { group_id }) => {
      // The condition selects channels that name the group; `groupsNamed` finds the permissions.
      const channels = await database.any(sql.type(row)`
        SELECT id, permissions FROM channels.channel WHERE realm_id = ${meta.realmId} AND NOT is_archived
          AND jsonb_path_exists(permissions, '$.* ? (@ == $group || @.direct_subgroups[*] == $group)',
            jsonb_build_object('group', ${group_id}::int))
        ORDER BY id`);
      const objections = channels.map(({ id, permissions }) => {
        const settings = Object.entries(permissions)
          .filter(([, value]) => groupsNamed(value).includes(group_id))
          .map(([name]) => name);
        return { type: 'channel' as const, channel_id: id, settings };
      });
      return { objections };
    }),
  ];
}
