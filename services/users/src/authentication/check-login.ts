import { ChatError, type RequestMeta } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { realmDeactivated } from '../model/actors.ts';
import { type Guesses, lowerCase } from '../model/credentials/guesses.ts';
import { verifyPassword } from '../model/credentials/passwords.ts';
import { idInEmail } from '../model/find-account.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { newLoginMail } from '../model/mail/mails.ts';

const accountRow = z.object({
  id: z.number(),
  email: z.string(),
  is_active: z.boolean(),
  realm_ended: z.boolean(),
  realm_name: z.string(),
  password_hash: z.string().nullable(),
  wants_mail: z.boolean(),
  language: z.string(),
});
export type LoginAccount = z.infer<typeof accountRow>;

/** No mail about logins in the first minute of an account: a new user knows of the first login. */
const wantsMail = sql.fragment`coalesce((a.settings->>'enable_login_emails')::boolean, true) AND a.joined_at < now() - interval '1 minute'`;

/** The account with this real address or placeholder address (`user12@host`). */
export function findLogin(database: Executor, realmId: number, username: string): Promise<LoginAccount | undefined> {
  const name = lowerCase(username);
  return database.maybeOne(sql.type(accountRow)`
    SELECT a.id, a.email, a.is_active, a.password_hash, r.is_deactivated AS realm_ended, r.name AS realm_name,
      ${wantsMail} AS wants_mail, coalesce(a.settings->>'default_language', 'en') AS language
    FROM users.account a JOIN users.realm r ON r.id = a.realm_id
    WHERE a.realm_id = ${realmId} AND NOT a.is_bot AND (lower(a.email) = ${name}
      OR a.id = ${idInEmail(name)} AND lower('user' || a.id || '@' || r.host) = ${name})
    ORDER BY lower(a.email) = ${name} DESC LIMIT 1`);
}

/** The account of a correct address and password. Throws AUTHENTICATION_FAILED, also for an unknown address. */
export async function checkLogin(
  database: Executor,
  guesses: Guesses,
  meta: RequestMeta,
  { username, password }: { username: string; password: string },
): Promise<LoginAccount> {
  const account = await findLogin(database, meta.realmId, username);
  const { realmId, network = 'unknown' } = meta;
  const isRight = await guesses.attempt({ realmId, network }, { name: username }, async (isFamiliar) =>
    (await verifyPassword(account?.password_hash, password, { meta, isFamiliar })) ? true : undefined,
  );
  if (!account || !isRight) throw wrongLogin();
  return active(account);
}

export function active(account: LoginAccount): LoginAccount {
  if (account.realm_ended) throw realmDeactivated();
  if (!account.is_active) throw new ChatError('USER_DEACTIVATED', 'Account is deactivated');
  return account;
}

/**
 * Locks the account. Fails if its address or its password was changed, or it was deactivated, since it was checked.
 */
export async function lockLogin(work: Work, { id, email, password_hash }: LoginAccount): Promise<void> {
  const same = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account
    WHERE id = ${id} AND is_active AND email = ${email} AND password_hash IS NOT DISTINCT FROM ${password_hash} FOR NO KEY UPDATE`);
  if (!same) throw wrongLogin();
}

export async function mailLogin(
  work: Work,
  mailer: Mailer,
  { client }: RequestMeta,
  account: LoginAccount,
): Promise<void> {
  if (!account.wants_mail) return;
  const mail = newLoginMail(account.language, { realm: account.realm_name, client });
  await mailer.notify(work, { kind: 'login', by: { personId: account.id }, to: account.email, mail });
}

export const wrongLogin = (): ChatError =>
  new ChatError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
