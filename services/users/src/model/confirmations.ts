import { createHash, randomBytes } from 'node:crypto';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { AccountRow } from './account-row.ts';
import { lockAccount } from './find-account.ts';

const confirmationRow = z.object({ user_id: z.number(), email: z.string() });
export type Confirmation = z.infer<typeof confirmationRow>;
type Kind = 'email' | 'password';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * Creates the confirmation of a mailed link. A newer address to confirm replaces an older one; links to set a password
 * stay valid until one is used, because anyone may request another.
 */
export async function newConfirmation(executor: Executor, userId: number, kind: Kind, email: string): Promise<string> {
  const key = randomBytes(24).toString('base64url');
  await executor.run(
    sql.unsafe`DELETE FROM users.confirmation WHERE user_id = ${userId} AND kind = ${kind} AND kind = 'email'
      OR hash = ANY(ARRAY(SELECT hash FROM users.confirmation WHERE expires_at < now() FOR UPDATE SKIP LOCKED))`,
  );
  await executor.run(sql.unsafe`
    INSERT INTO users.confirmation (hash, realm_id, user_id, kind, email, expires_at)
    SELECT decode(${hashOf(key)}, 'hex'), realm_id, id, ${kind}, ${email}, now() + interval '24 hours' FROM users.account WHERE id = ${userId}`);
  return key;
}

interface Key {
  realmId: number;
  kind: Kind;
  key: string;
}

const isValid = ({ realmId, kind, key }: Key) =>
  sql.fragment`hash = decode(${hashOf(key)}, 'hex') AND realm_id = ${realmId} AND kind = ${kind} AND expires_at > now()`;

export const findConfirmation = (executor: Executor, key: Key): Promise<Confirmation | undefined> =>
  executor.maybeOne(sql.type(confirmationRow)`SELECT user_id, email FROM users.confirmation WHERE ${isValid(key)}`);

/**
 * Consumes it: it works once. Its account is locked before it, as in units that end all confirmations of an account. Units with
 * different orders would wait for each other.
 */
export async function takeConfirmation(work: Work, key: Key): Promise<{ row: AccountRow; email: string } | undefined> {
  const found = await findConfirmation(work, key);
  const row = found && (await lockAccount(work, found.user_id));
  if (!row) return undefined;
  const taken = await work.run(sql.unsafe`DELETE FROM users.confirmation WHERE ${isValid(key)}`);
  return taken === 0 ? undefined : { row, email: found.email };
}
