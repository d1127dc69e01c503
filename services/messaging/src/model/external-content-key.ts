import { createHmac } from 'node:crypto';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** The secret never changes. */
const secrets = new WeakMap<Executor, string>();
const secretRow = z.object({ secret: z.string() });

/** The key that signs paths of external content in a realm. A path of one realm is not valid in another one. */
export async function externalContentKey(executor: Executor, realmId: number): Promise<string> {
  let secret = secrets.get(executor);
  if (secret === undefined) {
    const row = await executor.one(sql.type(secretRow)`SELECT secret FROM messaging.external_content_secret`);
    secret = row.secret;
    secrets.set(executor, secret);
  }
  return createHmac('sha256', secret).update(String(realmId)).digest('hex');
}
