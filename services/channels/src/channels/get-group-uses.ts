import { channelPermissionsSchema, type GroupUse, groupOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { groupsNamed, hasMetadataAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import type { Service } from '../model/deciding.ts';

const row = z.object({
  id: z.number(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  permissions: channelPermissionsSchema,
  is_subscribed: z.boolean(),
});

/** The channels whose permissions name a group, without archived ones. */
export function groupUsesHandlers({ owner: { database } }: Service): Handlers {
  return [
    handle(groupOperations.getGroupUses, async ({ actor, meta }, { group_id }) => {
      // The condition selects channels that name the group; `groupsNamed` finds the permissions.
      const channels = await database.any(sql.type(row)`
        SELECT c.id, c.is_private, c.is_web_public, c.permissions, coalesce(s.is_active, false) AS is_subscribed
        FROM channels.channel c LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${actor?.userId ?? 0}
        WHERE c.realm_id = ${meta.realmId} AND NOT c.is_archived
          AND jsonb_path_exists(c.permissions, '$.* ? (@ == $group || @.direct_subgroups[*] == $group)',
            jsonb_build_object('group', ${group_id}::int))
        ORDER BY c.id`);
      const known = channels.filter((channel) => actor && hasMetadataAccess(channel, actor, channel.is_subscribed));
      const objections: GroupUse[] = known.map(({ id, permissions }) => {
        const settings = Object.entries(permissions)
          .filter(([, value]) => groupsNamed(value).includes(group_id))
          .map(([name]) => name);
        return { type: 'channel', channel_id: id, settings };
      });
      if (known.length < channels.length) objections.push({ type: 'channel', settings: [] });
      return { objections };
    }),
  ];
}
