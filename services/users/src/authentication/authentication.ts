import { createHash } from 'node:crypto';
import { type Actor, badRequest, ChatError, type RequestMeta, userOperations } from '@natter/contracts';
import { type Executor, sql, together } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { idInEmail } from '../accounts/find-account.ts';
import type { Guesses } from './guesses.ts';
import { apiKeyId } from './passwords.ts';

const actorRow = z.object({
  ordinal: z.number(),
  id: z.number(),
  email: z.string(),
  role: z.number(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  is_system_bot: z.boolean(),
  /** A bot for incoming webhooks. */
  is_write_only: z.boolean(),
  realm_ended: z.boolean(),
  group_ids: z.array(z.number()),
  actor_version: z.number(),
  groups_version: z.number(),
});

/** By a key, shown with an address or an ID or alone; or by ID alone, where no credentials are shown. */
interface Asked {
  realm_id: number;
  key_hash?: string;
  email?: string | undefined;
  user_id?: number;
}

type Found = z.infer<typeof actorRow> | undefined;

export function authenticationHandlers({ database }: Owner, guesses: Guesses): Handlers {
  // After a restart of gateways all their clients come at once.
  const find = together((asked: Asked[]) => findAll(database, asked));
  const actorOf = async (asked: Asked, unknown: () => ChatError): Promise<Actor> =>
    toActor(asked, await find(asked), unknown);

  /** All spellings of the address of an account are one. */
  async function countWrong({ realmId, network = 'unknown' }: RequestMeta, email: string): Promise<void> {
    const account = await database.maybeOne(sql.type(z.object({ id: z.number() }))`
      SELECT a.id FROM users.account a JOIN users.realm r ON r.id = a.realm_id
      WHERE a.realm_id = ${realmId} AND (lower(a.email) = lower(${email})
        OR a.id = ${idInEmail(email)} AND lower('user' || a.id || '@' || r.host) = lower(${email})) LIMIT 1`);
    await guesses.wrongKey({ realmId, network }, account ? { userId: account.id } : { name: email });
  }

  return [
    handle(userOperations.authenticate, async ({ meta }, { email, api_key }) => {
      try {
        return await actorOf({ realm_id: meta.realmId, key_hash: apiKeyId(api_key), email }, invalidKey);
      } catch (error) {
        const isWrong = error instanceof ChatError && error.code === 'INVALID_API_KEY';
        if (isWrong && email !== undefined) await countWrong(meta, email);
        throw error;
      }
    }),
    handle(userOperations.refreshActor, ({ meta }, { user_id, key_id }) =>
      actorOf({ realm_id: meta.realmId, key_hash: key_id, user_id }, invalidKey),
    ),
    handle(userOperations.describeActor, ({ meta }, { user_id }) =>
      actorOf({ realm_id: meta.realmId, user_id }, () => badRequest('No such user')),
    ),
  ];
}

const invalidKey = (): ChatError => new ChatError('INVALID_API_KEY', 'Invalid API key');

async function findAll(executor: Executor, asked: readonly Asked[]): Promise<Found[]> {
  const rows = await executor.any(sql.type(actorRow)`
    SELECT ordinal, id, email, role, is_active, is_bot, is_system_bot, is_write_only, realm_ended, group_ids, actor_version, groups_version
    FROM users.actors(${JSON.stringify(asked)}::json)`);
  const found = new Map(rows.map((row) => [row.ordinal, row]));
  return asked.map((_, index) => found.get(index + 1));
}

/** The actor as a transaction sees them. */
export async function actorNow(executor: Executor, { realmId, userId, keyId }: Actor): Promise<Actor> {
  const asked = { realm_id: realmId, key_hash: keyId, user_id: userId };
  const [found] = await findAll(executor, [asked]);
  return toActor(asked, found, invalidKey);
}

function toActor(asked: Asked, account: Found, unknown: () => ChatError): Actor {
  if (!account) throw unknown();
  if (account.realm_ended) throw realmDeactivated();
  if (!account.is_active) throw new ChatError('USER_DEACTIVATED', 'Account is deactivated');
  return {
    realmId: asked.realm_id,
    userId: account.id,
    email: account.email,
    role: account.role,
    isBot: account.is_bot,
    ...(account.is_system_bot && asked.key_hash === undefined ? { isSystemBot: true } : {}),
    ...(account.is_write_only ? { isWriteOnly: true } : {}),
    keyId: asked.key_hash ?? '',
    groupIds: account.group_ids,
    basis: {
      [`actor:${account.id}`]: account.actor_version,
      [closureKey(account.id, account.group_ids)]: account.groups_version,
    },
  };
}

/**
 * Holds while the version of `groups` or, if that has changed, what it says is still true: `users.closure_stands` computes the hash
 * alike.
 */
const closureKey = (userId: number, groupIds: readonly number[]): string =>
  `closure:${userId}:${createHash('sha256').update(groupIds.join(',')).digest('hex').slice(0, 16)}`;

export const realmDeactivated = (): ChatError =>
  new ChatError('REALM_DEACTIVATED', 'This organization has been deactivated');

/** Tells gateways, through the log, to drop what they cached of a user. No client sees it. */
export const credentialsChanged = (userId: number) => ({
  type: 'credentials_changed',
  body: { user_id: userId },
  audience: { users: { ids: [] } },
});

export async function insertKey(
  executor: Executor,
  realmId: number,
  userId: number,
  key: string,
  client = '',
): Promise<void> {
  await executor.run(sql.unsafe`
    INSERT INTO users.api_key (hash, realm_id, user_id, client) VALUES (decode(${apiKeyId(key)}, 'hex'), ${realmId}, ${userId}, ${client})`);
}
