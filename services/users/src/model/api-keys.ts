import type { Actor } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { apiKeyId } from './credentials/passwords.ts';

/**
 * Call it in the unit that ends keys of a user, or all access of the user. It invalidates decisions of requests with these
 * keys, and makes gateways, through the log, drop cached actors of the user. Clients do not receive the event.
 */
export function announceRevoked(work: Work, userId: number): void {
  work.bump(`actor:${userId}`);
  work.emit({ type: 'credentials_changed', body: { user_id: userId }, audience: { users: { ids: [] } } });
}

export async function insertKey(
  executor: Executor,
  { realmId, userId }: Pick<Actor, 'realmId' | 'userId'>,
  key: string,
  client = '',
): Promise<void> {
  await executor.run(sql.unsafe`
    INSERT INTO users.api_key (hash, realm_id, user_id, client) VALUES (decode(${apiKeyId(key)}, 'hex'), ${realmId}, ${userId}, ${client})`);
}
