import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, migrate, serviceUrl, sql, sqlState } from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

let servers: Servers;
let admin: pg.Client;
beforeAll(async () => {
  servers = await bringServers({ dataDir: await mkdtemp(join(tmpdir(), 'natter-test-')) });
  await migrate(servers.postgresUrl, 'secret', () => undefined);
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await servers?.stop();
});

test('writes succeed after a failover during which connections to a standby were opened', async () => {
  // Sessions that begin now stay read-only, like those at a standby.
  await admin.query('ALTER ROLE natter_event_queue SET default_transaction_read_only = on');
  const url = serviceUrl(servers.postgresUrl, 'event_queue', 'secret');
  const database = createDatabase({ url, maxConnections: 3, name: 'test', onError: () => undefined });
  try {
    const write = () => database.run(sql.unsafe`UPDATE event_queue.alive SET at = now()`);
    const codes = await Promise.all([1, 2, 3].map(() => write().then(String, sqlState)));
    expect(codes).toEqual(['25006', '25006', '25006']);
    await admin.query('ALTER ROLE natter_event_queue RESET default_transaction_read_only');
    await expect.poll(() => write().catch(sqlState)).toBe(1);
  } finally {
    await database.close();
  }
});
