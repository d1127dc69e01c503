import type { Actor, LogEvent } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { apiKeyId } from './credentials/passwords.ts';

/** Makes gateways, through the log, drop cached actors of a user. Clients do not receive it. */
export const credentialsChanged = (userId: number): LogEvent => ({
  type: 'credentials_changed',
  body: { user_id: userId },
  audience: { users: { ids: [] } },
});

export async function insertKey(
  executor: Executor,
  { realmId, userId }: Pick<Actor, 'realmId' | 'userId'>,
  key: string,
  client = '',
): Promise<void> {
  await executor.run(sql.unsafe`
    INSERT INTO users.api_key (hash, realm_id, user_id, client) VALUES (decode(${apiKeyId(key)}, 'hex'), ${realmId}, ${userId}, ${client})`);
}
