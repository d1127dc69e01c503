import { sql, type Work } from '@natter/database';
import { announceRevoked } from './api-keys.ts';

/** Invalidates mailed links of an account: to set a password, to confirm an address. */
export async function endLinks(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.confirmation WHERE user_id = ${userId}`);
}

/**
 * Revokes the keys and sessions of an account except the one in use, and all mailed links: after a change of the password, and
 * before a reactivation. A deactivated account keeps its keys until then, so that the refusal states the reason. The account
 * is locked, so that no other unit adds a key meanwhile.
 */
export async function endCredentials(work: Work, userId: number, exceptKeyId = ''): Promise<void> {
  await work.run(
    sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId} AND hash <> decode(${exceptKeyId}, 'hex')`,
  );
  await endLinks(work, userId);
  announceRevoked(work, userId);
}
