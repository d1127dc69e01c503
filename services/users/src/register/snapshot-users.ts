import { eventQueueOperations, roles } from '@natter/contracts';
import { type Executor, inSnapshot, sql } from '@natter/database';
import { type Handlers, handle, type Owner, toJson } from '@natter/service-kit';
import { z } from 'zod';
import {
  type AccountRow,
  accountColumns,
  accountRow,
  avatarSource,
  avatarUrl,
  toUser,
  type Viewer,
} from '../model/account-row.ts';
import { readAccount } from '../model/find-account.ts';
import { forSpectators } from '../model/for-spectators.ts';
import { groupIdsOf } from '../model/holder.ts';
import { readProfileData } from '../model/profile-data.ts';
import { readRealm } from '../model/read-realm.ts';
import { rightsOf } from '../model/rights.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { stubOf } from '../model/stub.ts';
import { hiddenFrom } from '../model/user-visibility.ts';
import { createPeopleBlocks, type Viewpoint } from './people-blocks.ts';

export function snapshotHandlers({ database }: Owner, parts: readonly SnapshotPart[]): Handlers {
  return [
    handle(eventQueueOperations.snapshotUsers, async ({ meta }, { snapshot, user_id, types, ...params }) => {
      const wanted = parts.filter((part) => types === null || part.types.some((type) => types.includes(type)));
      if (wanted.length === 0) return toJson({});
      const request = {
        realmId: meta.realmId,
        capabilities: params.capabilities,
        clientGravatar: params.client_gravatar,
      };
      return inSnapshot(database, snapshot, async (executor) => {
        const viewer = user_id === 0 ? undefined : await viewerOf(executor, user_id);
        const answer: Record<string, unknown> = {};
        for (const { read, spectators } of wanted) {
          if (viewer) Object.assign(answer, await read(executor, { ...request, viewer }));
          else
            Object.assign(answer, typeof spectators === 'function' ? await spectators(executor, request) : spectators);
        }
        return toJson(answer);
      });
    }),
  ];
}

const viewerOf = async (executor: Executor, userId: number): Promise<Viewer> =>
  executor.maybeOne(
    sql.type(
      z.object({ userId: z.number(), role: z.number() }),
    )`SELECT id AS "userId", role FROM users.account WHERE id = ${userId}`,
  );

const everybody = createPeopleBlocks();

export const peopleSnapshot: SnapshotPart = {
  types: ['realm_user'],
  read: async (executor, { realmId, viewer, capabilities, clientGravatar }) => {
    const realm = await readRealm(executor, realmId);
    const { host } = realm;
    const own = await readAccount(executor, realmId, viewer.userId);
    const hidden = await hiddenFrom(executor, realmId, viewer);
    const viewpoint = { realmId, host, own, clientGravatar };
    const isIncomplete = capabilities.user_list_incomplete === true;
    const people =
      hidden.size === 0
        ? await everybody(executor, viewpoint)
        : await somePeople(executor, { ...viewpoint, hidden, isIncomplete });
    const holder = { userId: own.id, role: own.role, groupIds: await groupIdsOf(executor, own.id) };
    return {
      ...people,
      avatar_source: avatarSource(own),
      avatar_url: avatarUrl(own),
      avatar_url_medium: avatarUrl(own, '/medium'),
      is_admin: own.role <= roles.administrator,
      is_owner: own.role === roles.owner,
      is_moderator: own.role <= roles.moderator,
      is_guest: own.role === roles.guest,
      user_id: own.id,
      email: own.api_email,
      delivery_email: own.email,
      full_name: own.full_name,
      ...rightsOf(realm, holder),
    };
  },
  spectators: async (executor, { realmId }) => {
    const { host } = await readRealm(executor, realmId);
    return spectatorsView(await readAccounts(executor, realmId), host);
  },
};

const readAccounts = (executor: Executor, realmId: number): Promise<readonly AccountRow[]> =>
  executor.any(
    sql.type(
      accountRow,
    )`SELECT ${accountColumns} FROM users.account WHERE account.realm_id = ${realmId} ORDER BY account.id`,
  );

interface Limited extends Viewpoint {
  hidden: ReadonlySet<number>;
  isIncomplete: boolean;
}

/** The users in the register of a guest who may not see all users. */
async function somePeople(executor: Executor, { realmId, host, own, clientGravatar, hidden, isIncomplete }: Limited) {
  const viewer = { userId: own.id, role: own.role };
  const users = (await readAccounts(executor, realmId))
    .filter((row) => !isIncomplete || !hidden.has(row.id))
    .map((row) => (hidden.has(row.id) ? stubOf(row.id, host) : toUser(row, viewer, clientGravatar)));
  const profiles = await readProfileData(executor, realmId);
  const people = users
    .filter((user) => !user.is_system_bot)
    .map((user) =>
      user.is_bot
        ? user
        : { ...user, profile_data: hidden.has(user.user_id) ? {} : (profiles.get(user.user_id) ?? {}) },
    );
  return {
    realm_users: people.filter((user) => user.is_active),
    realm_non_active_users: people.filter((user) => !user.is_active),
    cross_realm_bots: users.filter((user) => user.is_system_bot),
  };
}

/** The users in the form for spectators: without addresses and profile data. */
function spectatorsView(rows: readonly AccountRow[], host: string): Record<string, unknown> {
  const users = rows.map((row) => forSpectators(toUser(row, undefined, false), host));
  const people = users.filter((user) => !user.is_system_bot);
  const flags = [
    'is_admin',
    'is_owner',
    'is_moderator',
    'can_create_private_streams',
    'can_create_public_streams',
    'can_create_web_public_streams',
    'can_create_streams',
    'can_subscribe_other_users',
    'can_invite_others_to_realm',
  ];
  return {
    realm_users: people.filter((user) => user.is_active),
    realm_non_active_users: people.filter((user) => !user.is_active),
    cross_realm_bots: users.filter((user) => user.is_system_bot),
    avatar_source: 'G',
    avatar_url: '/avatar/unknown?version=1',
    avatar_url_medium: '/avatar/unknown/medium?version=1',
    is_guest: true,
    user_id: -1,
    email: '',
    delivery_email: '',
    full_name: '',
    ...Object.fromEntries(flags.map((name) => [name, false])),
  };
}
