import { type Actor, badRequest, ChatError, userOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { idInEmail } from '../accounts/find-account.ts';
import { groupIdsOf } from '../groups/holder.ts';
import { apiKeyId } from './passwords.ts';

const credentialRow = z.object({
  id: z.number(),
  email: z.string(),
  role: z.number(),
  is_active: z.boolean(),
  realm_ended: z.boolean(),
  is_bot: z.boolean(),
  is_system_bot: z.boolean().optional(),
});

export function authenticationHandlers(owner: Owner): Handlers {
  const { database } = owner;

  const actorBy = (
    realmId: number,
    keyId: string,
    which: { email: string } | { userId: number } | undefined,
  ): Promise<Actor> => {
    const condition = !which
      ? sql.fragment`true`
      : 'email' in which
        ? sql.fragment`(lower(a.email) = lower(${which.email}) OR a.id = ${idInEmail(which.email)}
            AND lower('user' || a.id || '@' || r.host) = lower(${which.email}))`
        : sql.fragment`a.id = ${which.userId}`;
    const find = () =>
      database.maybeOne(sql.type(credentialRow)`
      SELECT a.id, a.email, a.role, a.is_active, a.is_bot, r.is_deactivated AS realm_ended
      FROM users.api_key k JOIN users.account a ON a.id = k.user_id JOIN users.realm r ON r.id = a.realm_id
      WHERE k.hash = decode(${keyId}, 'hex') AND a.realm_id = ${realmId} AND ${condition}`);
    return actorFrom(realmId, keyId, find, () => new ChatError('INVALID_API_KEY', 'Invalid API key'));
  };

  async function actorFrom(
    realmId: number,
    keyId: string,
    find: () => Promise<z.infer<typeof credentialRow> | undefined>,
    unknown: () => ChatError,
  ): Promise<Actor> {
    const found = await find();
    if (!found) throw unknown();
    // Versions first, then what they are versions of: a copy that is newer than its version is only refreshed once more.
    const versions = await database.any(sql.type(z.object({ key: z.string(), version: z.number() }))`
      SELECT key, version FROM log.versions(${realmId}, ${sql.array([`actor:${found.id}`, 'groups'], 'text')})`);
    const account = await find();
    if (!account) throw unknown();
    if (account.realm_ended) throw realmDeactivated();
    if (!account.is_active) throw new ChatError('USER_DEACTIVATED', 'Account is deactivated');
    return {
      realmId,
      userId: account.id,
      email: account.email,
      role: account.role,
      isBot: account.is_bot,
      ...(account.is_system_bot ? { isSystemBot: true } : {}),
      keyId,
      groupIds: await groupIdsOf(database, account.id),
      basis: Object.fromEntries(versions.map((row) => [row.key, row.version])),
    };
  }

  return [
    handle(userOperations.authenticate, async ({ meta }, { email, api_key }) =>
      actorBy(meta.realmId, apiKeyId(api_key), email === undefined ? undefined : { email }),
    ),

    handle(userOperations.refreshActor, async ({ meta }, { user_id, key_id }) =>
      actorBy(meta.realmId, key_id, { userId: user_id }),
    ),

    handle(userOperations.describeActor, async ({ meta }, { user_id }) =>
      actorFrom(
        meta.realmId,
        '',
        () =>
          database.maybeOne(sql.type(credentialRow)`
            SELECT a.id, a.email, a.role, a.is_active, a.is_bot, a.is_system_bot, r.is_deactivated AS realm_ended
            FROM users.account a JOIN users.realm r ON r.id = a.realm_id WHERE a.realm_id = ${meta.realmId} AND a.id = ${user_id}`),
        () => badRequest('No such user'),
      ),
    ),
  ];
}

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
