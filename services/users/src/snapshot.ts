import { eventQueueOperations, roles } from '@natter/contracts';
import { inSnapshot, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { accountColumns, accountRow, toUser } from './account-row.ts';

export function snapshotHandlers({ database }: Owner): Handlers {
  return [
    handle(eventQueueOperations.snapshotUsers, async ({ meta }, { snapshot, user_id, types, client_gravatar }) => {
      if (types !== null && !types.includes('realm_user')) return {};
      return inSnapshot(database, snapshot, async (executor) => {
        const rows = await executor.any(
          sql.type(
            accountRow,
          )`SELECT ${accountColumns} FROM users.account WHERE realm_id = ${meta.realmId} ORDER BY id`,
        );
        const own = rows.find((row) => row.id === user_id);
        if (!own) return {};
        const users = rows.map((row) => toUser(row, client_gravatar));
        const people = users
          .filter((user) => !user.is_system_bot)
          .map((user) => (user.is_bot ? user : { ...user, profile_data: {} }));
        return {
          realm_users: people.filter((user) => user.is_active),
          realm_non_active_users: people.filter((user) => !user.is_active),
          cross_realm_bots: users.filter((user) => user.is_system_bot),
          avatar_source: 'G',
          avatar_url: toUser(own, false).avatar_url,
          avatar_url_medium: toUser(own, false).avatar_url,
          is_admin: own.role <= roles.administrator,
          is_owner: own.role === roles.owner,
          is_moderator: own.role <= roles.moderator,
          is_guest: own.role === roles.guest,
          user_id: own.id,
          email: own.email,
          delivery_email: own.email,
          full_name: own.full_name,
          can_create_private_streams: own.role !== roles.guest,
          can_create_public_streams: own.role !== roles.guest,
          can_create_web_public_streams: false,
          can_create_streams: own.role !== roles.guest,
          can_subscribe_other_users: own.role !== roles.guest,
          can_invite_others_to_realm: own.role !== roles.guest,
        };
      });
    }),
  ];
}
