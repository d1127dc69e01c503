import { sql, type Work } from '@natter/database';
import { credentialsChanged } from './authentication.ts';

/** Links that were mailed for an account work no more: to set a password, to confirm an address. */
export async function endLinks(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.confirmation WHERE user_id = ${userId}`);
}

/**
 * Ends the keys of an account but the one that asks, and all mailed links: after a change of the password, and before an account
 * comes back. What was deactivated keeps its keys until then, so that their holder is told why they are refused.
 */
export async function endCredentials(work: Work, userId: number, exceptKeyId = ''): Promise<void> {
  await work.run(
    sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId} AND hash <> decode(${exceptKeyId}, 'hex')`,
  );
  await endLinks(work, userId);
  work.bump(`actor:${userId}`);
  work.emit(credentialsChanged(userId));
}
