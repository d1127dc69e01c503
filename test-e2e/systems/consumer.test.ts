import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDatabase,
  createUnitOfWork,
  type Database,
  migrate,
  serviceUrl,
  sql,
  startConsumer,
} from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const realmId = 1;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const numbers = sql.type(z.object({ number: z.number() }));
let servers: Servers;
let database: Database;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  servers = await bringServers({ dataDir });
  await migrate(servers.postgresUrl, 'secret', () => undefined);
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  database = createDatabase({ url, maxConnections: 8, name: 'test', onError: () => undefined });
  await database.any(sql.unsafe`SELECT log.create_realm(${realmId})`);
});
afterAll(async () => {
  await database?.close();
  await servers?.stop();
});

test('each event takes effect once in order; one that always fails is parked, and its neighbours are not lost', async () => {
  const unitOfWork = createUnitOfWork(database, () => undefined);
  const emit = (type: string) =>
    unitOfWork({ realmId, schema: 'users' }, async (work) => {
      work.emit({ type, body: {}, audience: 'realm' });
    });
  // Two of a name, as two replicas are; number 20 can't be handled (21 is of no interest).
  const consumers = [0, 1].map(() =>
    startConsumer(database, unitOfWork, {
      schema: 'users',
      name: 'effects',
      types: ['wanted'],
      handle: async (work, { number }) => {
        if (number === 20) throw new Error('poison');
        await work.run(sql.unsafe`
          INSERT INTO users.idempotency (realm_id, user_id, key, fingerprint) VALUES (${realmId}, ${number}, 'effect', '')`);
      },
      onError: () => undefined,
    }),
  );
  for (let number = 1; number <= 60; number++) {
    await emit(number % 3 === 0 ? 'other' : 'wanted');
    if (number % 7 === 0) for (const consumer of consumers) consumer.hint(realmId);
  }
  const expected = Array.from({ length: 60 }, (_, index) => index + 1).filter(
    (number) => number % 3 !== 0 && number !== 20,
  );
  let seen: number[] = [];
  for (let round = 0; round < 300 && seen.length < expected.length; round++) {
    await wait(50);
    seen = (
      await database.any(numbers`SELECT user_id AS number FROM users.idempotency ORDER BY created_at, user_id`)
    ).map((row) => row.number);
  }
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  expect(seen).toEqual(expected);
  expect(await database.any(numbers`SELECT number FROM users.parked_event`)).toEqual([{ number: 20 }]);
});
