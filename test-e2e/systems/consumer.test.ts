import type { LogEvent } from '@natter/contracts';
import {
  createUnitOfWork,
  type Database,
  isRefusedForNow,
  isServerTrouble,
  serviceUrl,
  sql,
  startConsumer,
} from '@natter/database';
import type { Servers } from '@natter/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

const realmId = 1;
const audience = { users: { ids: [] } };
const wanted: LogEvent = { type: 'invites_changed', body: {}, audience };
const other: LogEvent = { type: 'tick', body: {}, audience };
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const numbers = sql.type(z.object({ number: z.number() }));
let servers: Servers;
let database: Database;

/** Permits users to read the type that these tests use. */
async function allowTypes(url: string): Promise<void> {
  const owner = openDatabase(url, 1);
  await owner.run(sql.unsafe`
    UPDATE log.writer SET reads = reads || '{invites_changed}' WHERE role = 'natter_users'`);
  await owner.close();
}

beforeAll(async () => {
  servers = await openServers();
  await allowTypes(servers.postgresUrl);
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  database = openDatabase(url, 8);
  await database.any(sql.unsafe`SELECT log.create_realm(${realmId})`);
});
afterAll(async () => {
  await database?.close();
  await servers?.stop();
});

test('each event takes effect once and in order, and an event that always fails is parked', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const emit = (event: LogEvent) =>
    unitOfWork({ realmId, schema: 'users', claim: undefined }, async (work) => void work.emit(event));
  // Two with one name, like two replicas; number 20 can't be handled (21 is of another type).
  const consumers = [0, 1].map(() =>
    startConsumer(database, unitOfWork, {
      schema: 'users',
      name: 'effects',
      on: {
        invites_changed: async (work, _, number) => {
          if (number === 20) throw new Error('poison');
          await work.run(sql.unsafe`
            INSERT INTO users.idempotency (realm_id, user_id, key, fingerprint, created_at)
            VALUES (${realmId}, ${number}, 'effect', '', clock_timestamp())`);
        },
      },
      onError: () => undefined,
    }),
  );
  for (let number = 1; number <= 60; number++) {
    await emit(number % 3 === 0 ? other : wanted);
    if (number % 7 === 0) for (const consumer of consumers) consumer.hint(realmId);
  }
  const expected = Array.from({ length: 60 }, (_, index) => index + 1).filter(
    (number) => number % 3 !== 0 && number !== 20,
  );
  const seen = async (): Promise<number[]> =>
    (await database.any(numbers`SELECT user_id AS number FROM users.idempotency ORDER BY created_at, user_id`)).map(
      (row) => row.number,
    );
  await expect.poll(seen).toHaveLength(expected.length);
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  expect(await seen()).toEqual(expected);
  expect(await database.any(numbers`SELECT number FROM users.parked_event WHERE name = 'effects'`)).toEqual([
    { number: 20 },
  ]);
});

test('a failure with another cause does not park an event, and the consumer continues after it', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const refusing = 2;
  await database.any(sql.unsafe`SELECT log.create_realm(${refusing})`);
  const errors: unknown[] = [];
  // Lock, disk, read-only, cancellation, shutdown, missing privilege and table: errors caused by the state of the
  // server.
  const states = ['55P03', '53100', '25006', '57014', '57P01', '42501', '42P01', '40P01', 'XX000', '58030'];
  const seen: number[] = [];
  let failures = 0;
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'outage',
    on: {
      invites_changed: async (work, _, number) => {
        if (work.realmId !== refusing) return;
        if (failures < states.length) throw Object.assign(new Error('refused'), { code: states[failures++] });
        seen.push(number);
      },
    },
    onError: (error) => void errors.push(error),
  });
  for (let number = 1; number <= 3; number++)
    await unitOfWork({ realmId: refusing, schema: 'users', claim: undefined }, async (work) => {
      work.emit(wanted);
    });
  let failing = 0;
  for (let round = 0; round < 4_000 && seen.length < 3; round++) {
    await wait(50);
    failing = Math.max(failing, consumer.failingSeconds());
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(failing).toBeGreaterThan(1);
  expect(consumer.failingSeconds()).toBe(0);
  expect(errors.length).toBeGreaterThan(3);
  await consumer.stop();
  expect(await database.any(numbers`SELECT number FROM users.parked_event WHERE realm_id = ${refusing}`)).toEqual([]);
});

test('an operator can retry a parked event, which stays parked if it fails again', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const parking = 3;
  await database.any(sql.unsafe`SELECT log.create_realm(${parking})`);
  const emitted = [1, 2];
  for (const _ of emitted)
    await unitOfWork({ realmId: parking, schema: 'users', claim: undefined }, async (work) => {
      work.emit(wanted);
    });
  const applied: number[] = [];
  const broken = new Set(emitted);
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'mended',
    on: {
      invites_changed: async (work, _, number) => {
        if (work.realmId !== parking) return;
        if (broken.has(number)) throw new Error(`defect ${number}`);
        applied.push(number);
      },
    },
    onError: () => undefined,
  });
  const parked = () =>
    database.any(sql.type(z.object({ number: z.number(), error: z.string(), is_asked_for: z.boolean() }))`
      SELECT number, error, is_asked_for FROM users.parked_event WHERE realm_id = ${parking} ORDER BY number`);
  const rows = emitted.map((number) => ({ number, error: `defect ${number}`, is_asked_for: false }));
  await expect.poll(parked).toEqual(rows);
  broken.delete(1);
  await database.run(
    sql.unsafe`UPDATE users.parked_event SET is_asked_for = true, error = '' WHERE realm_id = ${parking}`,
  );
  await expect.poll(parked).toEqual(rows.slice(1));
  expect(applied).toEqual([1]);
  await consumer.stop();
});

test('a consumer handles an event after the consumers whose projections it reads', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const realm = 4;
  await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
  for (const _ of [1, 2])
    await unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => void work.emit(wanted));
  const order: string[] = [];
  const start = (name: string, after: { name: string; types: string[] }[]) =>
    startConsumer(database, unitOfWork, {
      schema: 'users',
      name,
      after,
      on: {
        invites_changed: async (work, _, number) => {
          if (work.realmId !== realm) return;
          order.push(`${name} ${number}`);
        },
      },
      onError: (error) => order.push(String(error)),
    });
  const follower = start('follower', [{ name: 'leader', types: ['invites_changed'] }]);
  follower.hint(realm, true);
  // The witness starts later and follows nobody: when it has handled both events, the follower had its chance.
  const witness = start('witness', []);
  await expect.poll(() => order).toEqual(['witness 1', 'witness 2']);
  const leader = start('leader', []);
  await expect.poll(() => order).toHaveLength(6);
  expect(order.slice(2)).toEqual(['leader 1', 'leader 2', 'follower 1', 'follower 2']);
  await Promise.all([leader, follower, witness].map((consumer) => consumer.stop()));
});

test('a realm with endless events does not delay other realms', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const [endless, quiet] = [5, 6];
  const begin = async (realm: number): Promise<void> => {
    await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
    await unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => void work.emit(wanted));
  };
  await begin(endless);
  const seen: number[] = [];
  let isEnough = false;
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'turns',
    batchSize: 1,
    on: {
      invites_changed: async (work) => {
        // Each event is followed by another one, so that something always waits in this realm.
        if (work.realmId === endless && !isEnough) work.emit(wanted);
        seen.push(work.realmId);
      },
    },
    onError: () => undefined,
  });
  await expect.poll(() => seen).toContain(endless);
  await begin(quiet);
  consumer.hint(quiet);
  await expect.poll(() => seen).toContain(quiet);
  isEnough = true;
  await consumer.stop();
});

test('an event that is unfinished is handled again in further transactions, before the next event', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const realm = 7;
  await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
  for (const _ of [1, 2])
    await unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => void work.emit(wanted));
  const partsRow = sql.type(z.object({ number: z.number(), part: z.string(), transaction: z.string() }));
  const parts = () =>
    database.any(partsRow`
    SELECT user_id AS number, key AS part, xmin::text AS transaction FROM users.idempotency WHERE realm_id = ${realm} ORDER BY created_at`);
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'parts',
    on: {
      invites_changed: async (work, _, number) => {
        if (work.realmId !== realm) return;
        const done = await work.any(numbers`
          SELECT user_id AS number FROM users.idempotency WHERE realm_id = ${realm} AND user_id = ${number}`);
        await work.run(sql.unsafe`
          INSERT INTO users.idempotency (realm_id, user_id, key, fingerprint, created_at)
          VALUES (${realm}, ${number}, ${`part ${done.length}`}, '', clock_timestamp())`);
        return number === 1 && done.length < 3 ? 'unfinished' : undefined;
      },
    },
    onError: () => undefined,
  });
  await expect.poll(parts).toHaveLength(5);
  await consumer.stop();
  const rows = await parts();
  expect(rows.map(({ number, part }) => `${number} ${part}`)).toEqual([
    ...['1 part 0', '1 part 1', '1 part 2', '1 part 3', '2 part 0'],
  ]);
  expect(new Set(rows.slice(0, 4).map(({ transaction }) => transaction)).size).toBe(4);
});

/** An event with another body than its declaration has, which the log stores as it is. */
const withBody = (body: object, more: Partial<LogEvent> = {}): LogEvent => ({ ...wanted, ...more, body }) as LogEvent;
const sized = (length: number, more?: Partial<LogEvent>): LogEvent => withBody({ text: 'x'.repeat(length) }, more);

/** Emits events in a new realm, and returns the numbers of those that each transaction of a new consumer handles. */
async function transactionsWith(realm: number, events: LogEvent[], slow: readonly number[] = []) {
  const unitOfWork = createUnitOfWork(database, ignored);
  await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
  await unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => {
    for (const event of events) work.emit(event);
  });
  const transactions: unknown[] = [];
  let current: number[] = [];
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: `transactions-${realm}`,
    on: {
      invites_changed: async (work, _, number) => {
        if (work.realmId !== realm) return;
        if (slow.includes(number)) await wait(300);
        current.push(number);
      },
    },
    finish: async (work) => {
      if (work.realmId !== realm) return;
      transactions.push(current);
      current = [];
    },
    onError: (error) => transactions.push(error),
  });
  await expect.poll(() => consumer.through(realm)).toBe(events.length);
  await consumer.stop();
  return transactions;
}

test('a transaction reads about 1 MiB of events, and no content of those that only clients need', async () => {
  const realm = 10;
  const part = sized(600_000);
  const forClients = sized(600_000, { isForClientsOnly: true });
  const events = [part, part, sized(2_000_000), forClients, part, wanted, withBody({ isForClientsOnly: true })];
  expect(await transactionsWith(realm, events)).toEqual([[1, 2], [3], [5], [6, 7]]);
  const rows = await database.any(sql.type(z.object({ number: z.number(), event: z.unknown(), bytes: z.number() }))`
    SELECT number, event, bytes FROM log.read_some_types(${realm}, 3, 7, '{invites_changed}', 10, 1000000)`);
  expect(rows).toMatchObject([{ number: 4, event: { isForClientsOnly: true } }, { number: 5 }]);
  expect(JSON.stringify(rows[0]).length).toBeLessThan(100);
  expect(rows[1]?.bytes).toBeGreaterThan(1_200_000);
});

test('after a transaction that ended early, the next one reads twice as many events as it handled', async () => {
  const events = Array.from({ length: 12 }, () => wanted);
  expect(await transactionsWith(11, events, [1])).toEqual([[1], [2, 3], [4, 5, 6, 7], [8, 9, 10, 11, 12]]);
});

test('a realm pauses after a long transaction while another realm has events', async () => {
  const unitOfWork = createUnitOfWork(database, ignored);
  const [heavy, light] = [12, 13];
  for (const realm of [heavy, light]) {
    await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
    await unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => {
      for (let count = 0; count < 3; count++) work.emit(wanted);
    });
  }
  const order: number[] = [];
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'pauses',
    batchSize: 1,
    on: {
      invites_changed: async ({ realmId: realm }) => {
        if (realm === heavy) await wait(400);
        if (realm >= heavy) order.push(realm);
      },
    },
    onError: () => undefined,
  });
  await expect.poll(() => order).toHaveLength(6);
  await consumer.stop();
  expect(order).toEqual([heavy, light, light, light, heavy, heavy]);
});

test('a consumer that emits does not park events while the log has no partition for today', async () => {
  const realm = 9;
  const url = servers.postgresUrl;
  const owner = openDatabase(url, 1);
  await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
  const unitOfWork = createUnitOfWork(database, ignored);
  const emit = (event: LogEvent) =>
    unitOfWork({ realmId: realm, schema: 'users', claim: undefined }, async (work) => void work.emit(event));
  await emit(wanted);
  // The event stays readable, in the partition of another day.
  const day = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const partitions = await owner.any(
    sql.type(z.object({ name: z.string() }))`SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = 'log.event'::regclass`,
  );
  for (const text of [
    `CREATE TABLE log.event_${day.replaceAll('-', '')} PARTITION OF log.event
      FOR VALUES FROM ('${day} 00:00:00+00') TO ('${day} 23:00:00+00')`,
    `UPDATE log.event SET created_at = '${day} 00:00:00+00'`,
    ...partitions.map(({ name }) => `DROP TABLE ${name}`),
  ])
    await owner.connect(({ query }) => query(text));
  const refused = await emit(other).catch((error: unknown) => error);
  expect([isServerTrouble(refused), isRefusedForNow(refused)]).toEqual([true, true]);

  let failures = 0;
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'emits',
    on: { invites_changed: async (work) => void (work.realmId === realm && work.emit(other)) },
    onError: (_, { realmId: failed }) => {
      if (failed === realm) failures++;
    },
  });
  // An error that the event itself causes would park the event after the third failure.
  await expect.poll(() => failures).toBeGreaterThan(4);
  await owner.any(sql.unsafe`SELECT log.prepare_partitions(1)`);
  const last = () => database.one(numbers`SELECT number FROM log.position(${realm})`);
  await expect.poll(last).toEqual({ number: 2 });
  await consumer.stop();
  await owner.close();
  expect(await database.any(numbers`SELECT number FROM users.parked_event WHERE realm_id = ${realm}`)).toEqual([]);
});
