import { badRequest, jwtOperations } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type Handlers, handleStored, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toUser } from '../model/account-row.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import { readAccount } from '../model/find-account.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { addKey } from './add-key.ts';
import { active, findLogin, type LoginAccount, lockLogin, mailLogin, wrongLogin } from './check-login.ts';
import { badToken, emailInJwt, type JwtAlgorithm } from './verify-jwt.ts';

const keyRow = z.object({ algorithm: z.enum(['HS256', 'HS384', 'HS512', 'RS256']), sealed_key: z.string() });

/** The key with which the tokens of a realm are signed. */
interface RealmKey {
  algorithm: JwtAlgorithm;
  key: string;
}

/** A login with a token that another system signed with the key that the operator set for the realm. */
export function fetchApiKeyByJwtHandlers({ database }: Owner, seal: KeySeal, mailer: Mailer): Handlers {
  return [
    handleStored(
      jwtOperations.fetchApiKeyByJwt,
      async ({ meta, write }, { token, include_profile }) => {
        const trusted = await keyOf(database, meta.realmId);
        const account = await accountOf(meta.realmId, token, trusted);
        const key = createApiKey();
        return write(async (work) => {
          await lockKey(work, trusted);
          await lockLogin(work, account);
          await addKey(work, account.id, key, meta.client);
          await mailLogin(work, mailer, meta, account);
          const row = include_profile ? await readAccount(work, work.realmId, account.id) : undefined;
          const profile = row ? { user: toUser(row, { userId: row.id, role: row.role }, false) } : {};
          return { sealed_key: seal.seal(key), email: account.email, user_id: account.id, ...profile };
        });
      },
      ({ sealed_key, ...account }) => ({ api_key: seal.open(sealed_key), ...account }),
    ),
  ];

  async function accountOf(realmId: number, token: string, { algorithm, key }: RealmKey): Promise<LoginAccount> {
    const email = await emailInJwt(token, algorithm, key);
    const account = await findLogin(database, realmId, email);
    // The other system knows real addresses only, so a placeholder address does not log in.
    if (account?.email.toLowerCase() !== email.toLowerCase()) throw wrongLogin();
    return active(account);
  }

  /** Fails if the key was replaced or removed since the token was checked. A change waits until the login is committed. */
  async function lockKey(work: Work, checked: RealmKey): Promise<void> {
    const { algorithm, key } = await keyOf(work, work.realmId, sql.fragment`FOR SHARE`);
    if (algorithm !== checked.algorithm || key !== checked.key) throw badToken();
  }

  async function keyOf(executor: Executor, realmId: number, lock = sql.fragment``): Promise<RealmKey> {
    const row = await executor.maybeOne(
      sql.type(keyRow)`SELECT algorithm, sealed_key FROM users.jwt_key WHERE realm_id = ${realmId} ${lock}`,
    );
    if (!row) throw badRequest('JWT authentication is not enabled for this organization');
    const key = seal.open(row.sealed_key);
    if (key === '') throw new Error('the key of JSON web tokens was sealed with another secret; set it again');
    return { algorithm: row.algorithm, key };
  }
}
