import type { LogEvent } from '@natter/contracts';
import {
  createCommitter,
  createGates,
  createUnitOfWork,
  type Database,
  KeyTaken,
  serviceUrl,
  sql,
  sqlState,
  VersionsChanged,
  withCost,
} from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { intoPreferences } from '../../services/messaging/src/model/sending/topic-preferences.ts';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

let servers: Servers;
/** One pool of connections for each of two simulated processes of a service. */
let databases: Database[];
let ofMessaging: Database;
let admin: pg.Client;
let locker: pg.Client;
let realms: number[];
let lastRealm = 0;

beforeAll(async () => {
  servers = await openServers();
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  databases = ['one', 'two'].map((name) => openDatabase(url, 6, name));
  ofMessaging = openDatabase(serviceUrl(servers.postgresUrl, 'messaging', 'secret'), 6, 'messaging');
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  locker = new pg.Client({ connectionString: servers.postgresUrl });
  await Promise.all([admin.connect(), locker.connect()]);
});
beforeEach(async () => {
  realms = Array.from({ length: 8 }, () => ++lastRealm);
  for (const realm of realms) await admin.query('SELECT log.create_realm($1)', [realm]);
});
afterAll(async () => {
  await Promise.all([admin?.end(), locker?.end()]);
  for (const database of [...(databases ?? []), ofMessaging]) await database?.close();
  await servers?.stop();
});

const database = (): Database => databases[0] as Database;
const realmAt = (index: number): number => realms[index % realms.length] ?? 0;
const committer = (own = database(), schema = 'users') =>
  createCommitter(own, schema, ignored, () => new Error('full') as never);
const tick = (body = {}) => ({ type: 'tick', body, audience: { users: { ids: [] } } }) as LogEvent;
const claim = (key: string) => ({ userId: 1, namedBy: 'key' as const, key, fingerprint: 'same' });
const decided = (key: string, expected: Record<string, number> = {}) => ({
  expected,
  events: [tick({ key, expected })],
  numbered: () => [],
  answer: { named: 'id', rest: {} },
  claim: claim(key),
});

function counting(own: Database): { transactions: { count: number }; counted: Database } {
  const transactions = { count: 0 };
  const connect: Database['connect'] = (work) => {
    transactions.count++;
    return own.connect(work);
  };
  return { transactions, counted: { ...own, connect } };
}

interface Recorded {
  number: number;
  event: { body: { key?: string; expected?: Record<string, number>; version?: number } };
  answer: { result: { id: number } } | null;
  transaction: string;
}

/** Events with the answers that were stored with them. Fails if the events are not a gapless chain. */
async function recorded(realm: number): Promise<Recorded[]> {
  const { rows } = await admin.query(
    `SELECT e.number::int, e.mark, e.previous_mark, e.event, e.xmin::text AS transaction, i.answer FROM log.event e
    LEFT JOIN users.idempotency i ON i.realm_id = e.realm_id AND i.key = e.event->'body'->>'key' WHERE e.realm_id = $1 ORDER BY e.number`,
    [realm],
  );
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  expect(rows.map(({ previous_mark }) => previous_mark)).toEqual(
    [0, ...rows.slice(0, -1).map(({ mark }) => mark)].slice(0, rows.length),
  );
  const { rows: clocks } = await admin.query('SELECT number::int, mark FROM log.clock WHERE realm_id = $1', [realm]);
  expect(clocks).toEqual([{ number: rows.length, mark: rows.at(-1)?.mark ?? 0 }]);
  return rows;
}
const keysIn = async (realm: number): Promise<unknown[]> =>
  (await admin.query('SELECT key FROM users.idempotency WHERE realm_id = $1 ORDER BY key', [realm])).rows.map(
    ({ key }) => key,
  );

test('writes of several realms are committed in one transaction, each with its number and its answer', async () => {
  const commits = committer();
  const answers = await Promise.all(realms.flatMap((realm) => ['a', 'b'].map((key) => commits(realm, decided(key)))));
  expect(answers).toEqual(realms.flatMap(() => [{ id: 1 }, { id: 2 }]));
  const all: Recorded[] = [];
  for (const realm of realms) all.push(...(await recorded(realm)));
  expect(all.map(({ answer }) => answer)).toEqual(answers.map((result) => ({ result })));
  expect(new Set(all.map(({ transaction }) => transaction)).size).toBe(1);
});

test('a write with text that Postgres cannot store is refused before it joins a transaction with others', async () => {
  const commits = committer();
  const [bad, ...others] = realms as [number, ...number[]];
  const unstorable = ['a\ud800b', 'a\0b'].flatMap((text) => [
    { ...decided('event'), events: [tick({ key: text })] },
    { ...decided('answer'), answer: { named: 'id', rest: { text } } },
  ]);
  const refused = unstorable.map((write) => commits(bad, write).catch((error: { code: string }) => error.code));
  const answers = await Promise.all([...others, bad].map((realm) => commits(realm, decided('fine'))));
  expect(await Promise.all(refused)).toEqual(unstorable.map(() => 'BAD_REQUEST'));
  expect(answers).toEqual(answers.map(() => ({ id: 1 })));
  const all = await Promise.all([...others, bad].map((realm) => recorded(realm)));
  expect(new Set(all.flat().map(({ transaction }) => transaction)).size).toBe(1);
});

test('in a shared commit, one realm can be refused and one can wait while the others are committed', async () => {
  const [fine, stale, locked] = realms as [number, number, number];
  await locker.query('BEGIN');
  await locker.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [locked]);
  const commits = committer();
  const ended: string[] = [];
  const write = (name: string, realm: number, expected = {}) =>
    commits(realm, decided('key', expected)).finally(() => ended.push(name));
  const [first, second, third] = [
    write('fine', fine),
    write('stale', stale, { 'actor:7': 1 }),
    write('locked', locked),
  ];
  await expect(second).rejects.toEqual(new VersionsChanged('actor:7'));
  expect(await first).toEqual({ id: 1 });
  expect(ended).not.toContain('locked');
  expect(await recorded(stale)).toEqual([]);
  expect(await keysIn(stale)).toEqual([]);
  expect(await keysIn(locked)).toEqual([]);
  expect(await recorded(fine)).toMatchObject([{ number: 1, answer: { result: { id: 1 } } }]);
  // The realms that are not locked go on meanwhile.
  expect(await Promise.all([commits(fine, decided('next')), commits(stale, decided('next'))])).toEqual([
    { id: 2 },
    { id: 1 },
  ]);
  expect(ended).not.toContain('locked');
  await locker.query('ROLLBACK');
  expect(await third).toEqual({ id: 1 });
  expect(await recorded(locked)).toMatchObject([{ number: 1, answer: { result: { id: 1 } } }]);
});

test('only the writes of a realm with outdated versions are refused', async () => {
  const [one, other] = realms as [number, number];
  const commits = committer();
  const all = await Promise.allSettled([
    commits(one, decided('stale', { 'actor:7': 1 })),
    commits(one, decided('fine', { 'actor:8': 0 })),
    commits(other, decided('fine')),
  ]);
  expect(all).toMatchObject([
    { status: 'rejected', reason: new VersionsChanged('actor:7') },
    { status: 'fulfilled', value: { id: 1 } },
    { status: 'fulfilled', value: { id: 1 } },
  ]);
  expect(await keysIn(one)).toEqual(['fine']);
});

test.each<[string, () => { key: string; expected: Record<string, number> }]>([
  ['an outdated version', () => ({ key: 'stale', expected: { 'actor:7': 1 } })],
  ['a used key', () => ({ key: 'taken', expected: {} })],
])('writes beside one with %s are committed in one transaction', async (_, refused) => {
  const [realm] = realms as [number];
  const { transactions, counted } = counting(database());
  const commits = committer(counted);
  await commits(realm, decided('taken'));
  transactions.count = 0;
  const keys = [...Array(99).keys()].map((nth) => `key ${nth}`);
  const { key, expected } = refused();
  const all = await Promise.allSettled([
    ...keys.slice(0, 50).map((one) => commits(realm, decided(one))),
    commits(realm, decided(key, expected)),
    ...keys.slice(50).map((one) => commits(realm, decided(one))),
  ]);
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(all[50]?.status).toBe('rejected');
  expect((await keysIn(realm)).toSorted()).toEqual(['taken', ...keys].toSorted());
  expect(transactions.count).toBe(2);
});

test('while a write waits for a row, a transaction that locked the row and waits for the clock goes on', async () => {
  const commits = committer();
  const waiting = async () => (await admin.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount;
  /** The code of the error if the transaction does not get the clock. */
  const attempt = async (realm: number): Promise<string | undefined> => {
    await commits(realm, decided('first'));
    await locker.query('BEGIN');
    await locker.query(
      `INSERT INTO users.idempotency SELECT (jsonb_populate_record(i, '{"key": "held"}')).* FROM users.idempotency i WHERE realm_id = $1`,
      [realm],
    );
    const held = commits(realm, decided('held')).catch((error: Error) => error);
    await expect.poll(waiting, { interval: 5 }).toBe(1);
    // Shorter than the time after which PostgreSQL searches for deadlocks.
    await locker.query("SET LOCAL lock_timeout = '900ms'");
    const code = await locker.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [realm]).then(
      () => undefined,
      (error) => sqlState(error),
    );
    await locker.query('ROLLBACK');
    const outcome = await held;
    if (code === undefined) expect(outcome).toEqual({ id: 2 });
    return code;
  };
  // On a busy machine the transaction may wait for the clock no sooner than during the last attempt of the write, which
  // waits for long. If the first attempts waited for long too, none would succeed here.
  const codes: (string | undefined)[] = [];
  for (const realm of realms) if (codes.at(-1) !== undefined || codes.length === 0) codes.push(await attempt(realm));
  expect(codes.at(-1)).toBeUndefined();
  expect(codes.filter((code) => code !== undefined && code !== '55P03')).toEqual([]);
});

test('a key that is used in one realm does not refuse writes of other realms', async () => {
  const [one, other, third] = realms as [number, number, number];
  await committer()(one, decided('taken'));
  const commits = committer();
  const all = await Promise.allSettled([
    commits(one, decided('taken')),
    commits(other, decided('taken')),
    commits(third, decided('taken')),
  ]);
  expect(all).toMatchObject([
    { status: 'rejected', reason: expect.any(KeyTaken) },
    { status: 'fulfilled', value: { id: 1 } },
    { status: 'fulfilled', value: { id: 1 } },
  ]);
  expect(await recorded(one)).toHaveLength(1);
});

test('a changed preference refuses the sends that were decided on it, and no writes of other realms', async () => {
  const [one, ...others] = realms as [number, ...number[]];
  const { transactions, counted } = counting(ofMessaging);
  const commits = committer(counted, 'messaging');
  const preference = (userId: number, before: number | null) => ({
    ...decided(`preference of ${userId}`),
    numbered: (from_end: number) => [
      {
        into: intoPreferences,
        row: { from_end, user_id: userId, channel_id: 5, topic: 'lunch', policy: 3, before, updated: 1 },
      },
    ],
  });
  await commits(one, preference(7, null));
  await admin.query('UPDATE messaging.user_topic SET policy = 1 WHERE realm_id = $1', [one]);
  transactions.count = 0;
  const all = await Promise.allSettled([
    commits(one, { ...preference(7, null), claim: claim('again') }),
    ...others.map((realm) => commits(realm, preference(7, null))),
  ]);
  expect(all).toMatchObject([
    { status: 'rejected', reason: { name: 'VersionsChanged', of: 'row', row: { realm_id: one, user_id: 7 } } },
    ...others.map(() => ({ status: 'fulfilled' })),
  ]);
  expect(transactions.count).toBe(2);
  const { rows } = await admin.query('SELECT policy FROM messaging.user_topic WHERE realm_id = ANY($1) ORDER BY 1', [
    realms,
  ]);
  expect(rows).toEqual([1, ...others.map(() => 3)].map((policy) => ({ policy })));
});

test('a write to a realm without a log is refused, and writes to other realms are committed', async () => {
  const commits = committer();
  const [absent, fine] = [commits(999_999, decided('key')), commits(realmAt(0), decided('key'))];
  await expect(absent).rejects.toMatchObject({ code: 'NT404' });
  expect(await fine).toEqual({ id: 1 });
});

test('a service cannot append to several realms for another service, or events of another service', async () => {
  const append = (source: string, type: string) =>
    database().any(
      sql.unsafe`SELECT log.append_many(${source}, ${JSON.stringify([{ realm_id: realmAt(0), basis: {}, events: [{ type }] }])}::json)`,
    );
  await expect(append('messaging', 'tick')).rejects.toMatchObject({ code: '42501' });
  await expect(append('users', 'message')).rejects.toMatchObject({ code: '42501' });
  expect(await recorded(realmAt(0))).toEqual([]);
});

test('while versions change, two processes leave no gap and do not commit on an outdated version', async () => {
  const versionRow = z.object({ version: z.number() });
  const versionIn = async (own: Database, realm: number): Promise<number> =>
    (await own.one(sql.type(versionRow)`SELECT version FROM log.versions(${realm}, ${sql.array(['actor:1'], 'text')})`))
      .version;
  const bursts = 12;
  let refused = 0;
  const answered: { realm: number; key: string; id: number }[] = [];

  async function write(own: Database, commits: ReturnType<typeof committer>, name: string): Promise<void> {
    for (let k = 0; k < bursts; k++) {
      const key = `${name}.${k}`;
      // Bursts, so that realms are committed together.
      await Promise.all(
        realms.map(async (realm) => {
          const version = await versionIn(own, realm);
          try {
            const { id } = (await commits(realm, decided(key, { 'actor:1': version }))) as { id: number };
            answered.push({ realm, key, id });
          } catch (error) {
            expect(error).toBeInstanceOf(VersionsChanged);
            refused++;
          }
        }),
      );
    }
  }
  async function change(own: Database, step: number): Promise<void> {
    const unitOfWork = createUnitOfWork(own, ignored, createGates(own, 'users', 2));
    for (let k = 0; k < 40; k++)
      await unitOfWork({ realmId: realmAt(k * step), schema: 'users', claim: undefined }, async (work) => {
        work.bump('actor:1');
        work.emit(tick({ version: 1 }));
      });
  }
  await Promise.all(
    databases.flatMap((own, index) => {
      const commits = committer(own);
      return [change(own, index + 1), ...[1, 2, 3].map((one) => write(own, commits, `${index}.${one}`))];
    }),
  );
  for (const realm of realms) {
    let version = 0;
    const events = await recorded(realm);
    for (const { number, event, answer } of events) {
      if (event.body.version) version++;
      else {
        expect(event.body.expected).toEqual({ 'actor:1': version });
        expect(answer).toEqual({ result: { id: number } });
        expect(answered).toContainEqual({ realm, key: event.body.key, id: number });
      }
    }
    expect(events.filter(({ event }) => event.body.key)).toHaveLength(
      answered.filter((one) => one.realm === realm).length,
    );
  }
  expect(answered.length + refused).toBe(2 * 3 * bursts * realms.length);
});

/** Returns the cost of a write that runs `statement` under the clock. The write may fail. */
function costOf(realm: number, statement: ReturnType<typeof sql.unsafe>): Promise<number> {
  const commits = committer();
  return withCost(async (elsewhereMs) => {
    await commits(realm, { ...decided('key'), numbered: () => [statement] }).catch(() => undefined);
    return elsewhereMs();
  });
}

test('a write is charged for the time during which it held the clock, but not for waiting for it', async () => {
  const [slow, ...others] = realms as [number, ...number[]];
  expect(await costOf(slow, sql.unsafe`SELECT pg_sleep(1)`)).toBeGreaterThan(900);
  const costOfWaiting = async (realm: number): Promise<number> => {
    await locker.query('BEGIN');
    await locker.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [realm]);
    const cost = costOf(realm, sql.unsafe`SELECT 1`);
    await locker.query('SELECT pg_sleep(1)');
    await locker.query('ROLLBACK');
    return cost;
  };
  // On a busy machine a commit may hold the clock for long. If the wait counted, each would cost more.
  const costs: number[] = [];
  for (const realm of others) if (!((costs.at(-1) ?? 900) < 900)) costs.push(await costOfWaiting(realm));
  expect(costs.at(-1)).toBeLessThan(900);
});

test('a write whose transaction fails is charged for it', async () => {
  expect(await costOf(realmAt(0), sql.unsafe`SELECT pg_sleep(1), 1 / (random() * 0)::int`)).toBeGreaterThan(100);
});

test('a read is charged in full, and a statement that may wait for a lock is not', async () => {
  const costOfQuery = (query: ReturnType<typeof sql.unsafe>): Promise<number> =>
    withCost(async (elsewhereMs) => {
      await database().any(query);
      return elsewhereMs();
    });
  expect(await costOfQuery(sql.unsafe`SELECT pg_sleep(1)`)).toBeGreaterThan(900);
  await committer()(realmAt(0), decided('key'));
  const locking = sql.unsafe`SELECT pg_sleep(1) FROM users.idempotency LIMIT 1 FOR UPDATE`;
  expect(await costOfQuery(locking)).toBeLessThan(900);
});

test('many long texts of a realm are not committed in one transaction', async () => {
  const [realm] = realms as [number];
  const commits = committer();
  const text = 'x'.repeat(100_000);
  const write = (key: string) => commits(realm, { ...decided(key), events: [tick({ key, text })] });
  await Promise.all([...Array(10).keys()].map((nth) => write(`key ${nth}`)));
  const all = await recorded(realm);
  expect(all).toHaveLength(10);
  for (const together of Map.groupBy(all, ({ transaction }) => transaction).values())
    expect(together.length).toBeLessThan(5);
});
