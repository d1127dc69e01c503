import { badRequest, ChatError, type RequestMeta, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleStored, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { idInEmail } from '../accounts/find-account.ts';
import type { Mailer } from '../mail/mailer.ts';
import { newLoginMail } from '../mail/mails.ts';
import { addKey } from './add-key.ts';
import { realmDeactivated } from './authentication.ts';
import type { Guesses } from './guesses.ts';
import type { KeySeal } from './key-seal.ts';
import { createApiKey, verifyPassword } from './passwords.ts';

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

/** Mails about logins start a minute after somebody joined: whoever just did knows of the first one. */
const wantsMail = sql.fragment`coalesce((a.settings->>'enable_login_emails')::boolean, true) AND a.joined_at < now() - interval '1 minute'`;

export function loginHandlers(
  { database, unitOfWork }: Owner,
  seal: KeySeal,
  mailer: Mailer,
  guesses: Guesses,
): Handlers {
  return [
    handle(userOperations.devFetchApiKey, async () => {
      throw badRequest('Development environment authentication is not enabled.');
    }),

    handleStored(
      userOperations.fetchApiKey,
      async ({ meta, claim }, { username, password }) => {
        const account = await check(meta, username.trim(), password);
        const key = createApiKey();
        const stored = await unitOfWork({ realmId: meta.realmId, schema: 'users', claim }, async (work) => {
          // A password that was changed meanwhile, or an account that was deactivated, makes no key.
          const same = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
            SELECT id FROM users.account WHERE id = ${account.id} AND is_active AND password_hash = ${account.password_hash} FOR NO KEY UPDATE`);
          if (!same) throw wrongPassword();
          await addKey(work, account.id, key, meta.client);
          return { sealed_key: seal.seal(key), email: account.email, user_id: account.id };
        });
        if (account.wants_mail)
          mailer.notify(database, {
            realmId: meta.realmId,
            kind: 'login',
            to: account.email,
            mail: newLoginMail(account.language, { realm: account.realm_name, client: meta.client }),
          });
        return stored;
      },
      ({ sealed_key, ...account }) => ({ api_key: seal.open(sealed_key), ...account }),
    ),
  ];

  async function check(meta: RequestMeta, username: string, password: string) {
    const account = await database.maybeOne(sql.type(accountRow)`
      SELECT a.id, a.email, a.is_active, a.password_hash, r.is_deactivated AS realm_ended, r.name AS realm_name,
        ${wantsMail} AS wants_mail, coalesce(a.settings->>'default_language', 'en') AS language
      FROM users.account a JOIN users.realm r ON r.id = a.realm_id
      WHERE a.realm_id = ${meta.realmId} AND NOT a.is_bot AND (lower(a.email) = lower(${username})
        OR a.id = ${idInEmail(username)} AND lower('user' || a.id || '@' || r.host) = lower(${username}))
      ORDER BY lower(a.email) = lower(${username}) DESC LIMIT 1`);
    const { realmId, network = 'unknown' } = meta;
    const guessed = account ? { userId: account.id } : { name: username };
    const isRight = await guesses.attempt({ realmId, network }, guessed, async () =>
      (await verifyPassword(account?.password_hash, password)) ? true : undefined,
    );
    if (!account || !isRight) throw wrongPassword();
    if (account.realm_ended) throw realmDeactivated();
    if (!account.is_active) throw new ChatError('USER_DEACTIVATED', 'Account is deactivated');
    return account;
  }
}

const wrongPassword = (): ChatError => new ChatError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
