import { ChatError, messageReadingOperations, type ProfileData, type User, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Bus, type Handlers, handle, handleOpen, type Owner } from '@natter/service-kit';
import type { UsersConfig } from '../config.ts';
import { readProfileData } from '../profile-fields/profile-data.ts';
import { readRealm } from '../realm/read-realm.ts';
import { hiddenFrom } from '../sight/sight.ts';
import { stubOf } from '../sight/stub.ts';
import { accountColumns, accountRow, toUser } from './account-row.ts';
import { findAccount, noSuchUser, readAccount } from './find-account.ts';

export function readUserHandlers({ database }: Owner, bus: Bus, config: UsersConfig): Handlers {
  return [
    handleOpen(userOperations.getUsers, async ({ actor, meta }, params) => {
      if (!actor) {
        const { settings } = await readRealm(database, meta.realmId);
        if (!settings.enable_spectator_access || !config.WEB_PUBLIC_STREAMS_ENABLED)
          throw new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
      }
      const { user_ids, client_gravatar, include_custom_profile_fields } = params;
      const only =
        user_ids === undefined ? sql.fragment`` : sql.fragment`AND account.id = ANY(${sql.array(user_ids, 'int4')})`;
      const rows = await database.any(sql.type(accountRow)`
        SELECT ${accountColumns} FROM users.account WHERE account.realm_id = ${meta.realmId} ${only} ORDER BY account.id`);
      // What people say of themselves is for the realm, not for the web.
      const known = actor ? () => readProfileData(database, meta.realmId, user_ids) : async () => nothing;
      const profiles = include_custom_profile_fields ? await known() : undefined;
      const hidden = await hiddenFrom(database, meta.realmId, actor);
      const { host } = await readRealm(database, meta.realmId);
      const users = rows.map((row) =>
        hidden.has(row.id)
          ? withProfile(stubOf(row.id, host), profiles && nothing)
          : withProfile(toUser(row, actor, client_gravatar && actor !== undefined), profiles),
      );
      return { members: actor ? users : users.map((user) => forSpectators(user, host)) };
    }),

    handle(userOperations.getUser, async ({ actor }, params) => {
      const row = await findAccount(database, actor.realmId, params.user_id_or_email, actor);
      if ((await hiddenFrom(database, actor.realmId, actor)).has(row.id)) throw noSuchUser();
      const profiles = params.include_custom_profile_fields
        ? await readProfileData(database, actor.realmId, [row.id])
        : undefined;
      return { user: withProfile(toUser(row, actor, params.client_gravatar), profiles) };
    }),

    handle(userOperations.getOwnUser, async ({ actor, meta }) => {
      const row = await readAccount(database, actor.realmId, actor.userId);
      const { max_message_id } = await bus.call(
        messageReadingOperations.getMaxMessageId,
        { user_id: actor.userId },
        { meta },
      );
      const profiles = await readProfileData(database, actor.realmId, [actor.userId]);
      return { ...withProfile(toUser(row, actor, false), profiles), max_message_id };
    }),
  ];
}

const nothing: Map<number, ProfileData> = new Map();
const withProfile = (user: User, profiles: Map<number, ProfileData> | undefined): User =>
  profiles && !user.is_bot ? { ...user, profile_data: profiles.get(user.user_id) ?? {} } : user;

/** Nobody's address but a bot's, and the day they joined alone. */
export const forSpectators = (user: User, host: string): User => ({
  ...user,
  ...(user.is_bot ? {} : { delivery_email: null, email: `user${user.user_id}@${host}` }),
  date_joined: user.date_joined.slice(0, 10),
});
