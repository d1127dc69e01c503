import { limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { announceRevoked, insertKey } from '../model/api-keys.ts';

/**
 * Adds an API key for a user. Above the limit, the oldest key of the client with the most keys is revoked: a script that
 * logs in with every run must not log out other clients. The account is locked.
 */
export async function addKey(work: Work, userId: number, key: string, client = ''): Promise<void> {
  await insertKey(work, { realmId: work.realmId, userId }, key, client);
  const ended = await work.run(sql.unsafe`
    WITH own AS (
      SELECT id, count(*) OVER (PARTITION BY client) AS of_client, count(*) OVER () AS total
      FROM users.api_key WHERE user_id = ${userId} AND expires_at IS NULL)
    DELETE FROM users.api_key WHERE id IN (
      SELECT id FROM own ORDER BY of_client DESC, id LIMIT (SELECT greatest(max(total) - ${limits.apiKeysPerUser}, 0) FROM own))`);
  if (ended === 0) return;
  announceRevoked(work, userId);
}
