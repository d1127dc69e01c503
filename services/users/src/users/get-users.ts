import { notLoggedIn, type ProfileData, type User, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { accountColumns, accountRow, toUser } from '../model/account-row.ts';
import type { UsersConfig } from '../model/config.ts';
import { findAccount, noSuchUser } from '../model/find-account.ts';
import { forSpectators } from '../model/for-spectators.ts';
import { readProfileData } from '../model/profile-data.ts';
import { readRealm } from '../model/read-realm.ts';
import { stubOf } from '../model/stub.ts';
import { hiddenFrom } from '../model/user-visibility.ts';

export function readUserHandlers({ database }: Owner, config: UsersConfig): Handlers {
  return [
    handle(userOperations.getUsers, async ({ actor, meta }, params) => {
      if (!actor) {
        const { settings } = await readRealm(database, meta.realmId);
        if (!settings.enable_spectator_access || !config.WEB_PUBLIC_STREAMS_ENABLED) throw notLoggedIn();
      }
      const { user_ids, client_gravatar, include_custom_profile_fields } = params;
      const only =
        user_ids === undefined ? sql.fragment`` : sql.fragment`AND account.id = ANY(${sql.array(user_ids, 'int4')})`;
      const rows = await database.any(sql.type(accountRow)`
        SELECT ${accountColumns} FROM users.account
        WHERE account.realm_id = ${meta.realmId} AND NOT account.is_system_bot ${only} ORDER BY account.id`);
      // Profile data is visible to the realm's users, not to spectators.
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
      const row = await findAccount(database, actor.realmId, params.user_id_or_email, { viewer: actor });
      if ((await hiddenFrom(database, actor.realmId, actor)).has(row.id)) throw noSuchUser();
      const profiles = params.include_custom_profile_fields
        ? await readProfileData(database, actor.realmId, [row.id])
        : undefined;
      return { user: withProfile(toUser(row, actor, params.client_gravatar), profiles) };
    }),
  ];
}

const nothing: Map<number, ProfileData> = new Map();
export const withProfile = (user: User, profiles: Map<number, ProfileData> | undefined): User =>
  profiles && !user.is_bot ? { ...user, profile_data: profiles.get(user.user_id) ?? {} } : user;
