import { createHash } from 'node:crypto';
import { type Actor, ChatError } from '@natter/contracts';
import { createBatcher, type Database, type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { isApiKeyId } from './credentials/passwords.ts';

const actorRow = z.object({
  ordinal: z.number(),
  id: z.number(),
  email: z.string(),
  role: z.number(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  bot_owner_id: z.number().nullable(),
  is_system_bot: z.boolean(),
  /** An incoming webhook bot. */
  is_write_only: z.boolean(),
  can_forge_sender: z.boolean(),
  realm_ended: z.boolean(),
  group_ids: z.array(z.number()),
  actor_version: z.number(),
  groups_version: z.number(),
});

/** Looked up by a key, with or without an address or id; or by id alone, if there are no credentials. */
export interface Asked {
  realm_id: number;
  key_hash?: string;
  email?: string | undefined;
  user_id?: number;
}

type Found = z.infer<typeof actorRow> | undefined;

export const invalidKey = (): ChatError => new ChatError('INVALID_API_KEY', 'Invalid API key');

export async function findAll(executor: Executor, asked: readonly Asked[]): Promise<Found[]> {
  const rows = await executor.any(sql.type(actorRow)`
    SELECT ordinal, found.id, email, role, is_active, is_bot, is_system_bot, is_write_only, realm_ended, group_ids, actor_version, groups_version,
      own.bot_owner_id, own.can_forge_sender
    FROM users.actors(${JSON.stringify(asked)}::json) found
    CROSS JOIN LATERAL (SELECT a.bot_owner_id, a.can_forge_sender FROM users.account a WHERE a.id = found.id LIMIT 1) own`);
  const found = new Map(rows.map((row) => [row.ordinal, row]));
  return asked.map((_, index) => found.get(index + 1));
}

export type FindActor = (asked: Asked) => Promise<Found>;

/** Joins look-ups: after a restart of gateways all their clients authenticate at once. */
export const createFindActor = (database: Database): FindActor =>
  createBatcher((asked: Asked[]) => findAll(database, asked));

/** The actor of a credential as it is now. */
export async function refreshedActor(
  find: FindActor,
  { realmId, userId, keyId }: Pick<Actor, 'realmId' | 'userId' | 'keyId'>,
): Promise<Actor> {
  // Without a digest the actor would be looked up by its id alone.
  if (!isApiKeyId(keyId)) throw invalidKey();
  const asked = { realm_id: realmId, key_hash: keyId, user_id: userId };
  return toActor(asked, await find(asked), invalidKey);
}

/** The actor in the view of a transaction. */
export async function actorNow(executor: Executor, { realmId, userId, keyId }: Actor): Promise<Actor> {
  const asked = { realm_id: realmId, key_hash: keyId, user_id: userId };
  const [found] = await findAll(executor, [asked]);
  return toActor(asked, found, invalidKey);
}

export function toActor(asked: Asked, account: Found, unknown: () => ChatError): Actor {
  if (!account) throw unknown();
  if (account.realm_ended) throw realmDeactivated();
  if (!account.is_active) throw new ChatError('USER_DEACTIVATED', 'Account is deactivated');
  return {
    realmId: asked.realm_id,
    userId: account.id,
    email: account.email,
    role: account.role,
    isBot: account.is_bot,
    ...(account.is_bot && account.bot_owner_id !== null ? { botOwnerId: account.bot_owner_id } : {}),
    ...(account.is_system_bot && asked.key_hash === undefined ? { isSystemBot: true } : {}),
    ...(account.is_write_only ? { isWriteOnly: true } : {}),
    ...(account.can_forge_sender ? { mayForgeSender: true } : {}),
    keyId: asked.key_hash ?? '',
    groupIds: account.group_ids,
    basis: {
      [`actor:${account.id}`]: account.actor_version,
      [closureKey(account.id, account.group_ids)]: account.groups_version,
    },
  };
}

/**
 * Current while the version of `groups` is unchanged or, if it changed, while the user's groups still have this hash:
 * `users.closure_stands` computes it in the same way.
 */
const closureKey = (userId: number, groupIds: readonly number[]): string =>
  `closure:${userId}:${createHash('sha256').update(groupIds.join(',')).digest('hex').slice(0, 16)}`;

export const realmDeactivated = (): ChatError =>
  new ChatError('REALM_DEACTIVATED', 'This organization has been deactivated');
