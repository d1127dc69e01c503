import { createHmac } from 'node:crypto';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** It never changes. */
const secrets = new WeakMap<Executor, string>();
const secretRow = z.object({ secret: z.string() });

/** What paths of external content are signed with in a realm: what one realm shows opens nothing through another one. */
export async function externalContentKey(executor: Executor, realmId: number): Promise<string> {
  let secret = secrets.get(executor);
  if (secret === undefined) {
    const row = await executor.one(sql.type(secretRow)`SELECT secret FROM messaging.external_content_secret`);
    secret = row.secret;
    secrets.set(executor, secret);
  }
  return createHmac('sha256', secret).update(String(realmId)).digest('hex');
}
