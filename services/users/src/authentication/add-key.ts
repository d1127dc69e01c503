import { limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { credentialsChanged, insertKey } from '../model/api-keys.ts';

/** Adds an API key for a user, and revokes the oldest above the limit. The account is locked. */
export async function addKey(work: Work, userId: number, key: string, client = ''): Promise<void> {
  await insertKey(work, { realmId: work.realmId, userId }, key, client);
  const ended = await work.run(sql.unsafe`
    DELETE FROM users.api_key WHERE user_id = ${userId} AND expires_at IS NULL AND id <= (
      SELECT id FROM users.api_key WHERE user_id = ${userId} AND expires_at IS NULL
      ORDER BY id DESC OFFSET ${limits.apiKeysPerUser} LIMIT 1)`);
  if (ended === 0) return;
  work.bump(`actor:${userId}`);
  work.emit(credentialsChanged(userId));
}
