import type { LogEvent } from '@natter/contracts';
import {
  createCommitter,
  createUnitOfWork,
  type Database,
  deleteInBatches,
  exportSnapshot,
  inSnapshot,
  KeyTaken,
  serviceUrl,
  sql,
  withDeadline,
} from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

const realmId = 1;
const otherRealmId = 2;
const counts = sql.type(z.object({ count: z.number() }));
const event: LogEvent = { type: 'tick', body: {}, audience: { users: { ids: [] } } };
let servers: Servers;
let database: Database;
let admin: pg.Client;
let locker: pg.Client;

beforeAll(async () => {
  servers = await openServers();
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  database = openDatabase(url, 2, 'failing');
  for (const realm of [realmId, otherRealmId]) await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  locker = new pg.Client({ connectionString: servers.postgresUrl });
  await Promise.all([admin.connect(), locker.connect()]);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await Promise.all([admin?.end(), locker?.end()]);
  await database?.close();
  await servers?.stop();
});

const insert = (key: string) => sql.unsafe`
  INSERT INTO users.idempotency (realm_id, user_id, key, fingerprint) VALUES (${realmId}, 1, ${key}, '')`;
const claim = (key: string) => ({ userId: 1, namedBy: 'key' as const, key, fingerprint: 'same' });
const decided = { expected: {}, events: [event], numbered: () => [], answer: { named: 'id', rest: {} } };
const commit = () => createCommitter(database, 'users', ignored, () => new Error('full') as never);
const unit = (key: string, emits: boolean) =>
  createUnitOfWork(database, ignored)({ realmId, schema: 'users', claim: claim(key) }, async (work) => {
    await work.run(insert(`effect ${Math.random()} of ${key}`));
    if (emits) work.emit(event);
    return {};
  });

/** Every way in which the services use a transaction. */
const operations: Record<string, (key: string) => Promise<unknown>> = {
  'a unit of work with events': (key) => unit(key, true),
  'a unit of work without events': (key) => unit(key, false),
  'a unit of work whose key is taken': async (key) => {
    await unit(key, true);
    await unit(key, true).catch((error: unknown) => {
      if (!(error instanceof KeyTaken)) throw error;
    });
  },
  'a group commit': () => commit()(realmId, { ...decided, claim: undefined }),
  'a group commit with a key': (key) => commit()(realmId, { ...decided, claim: claim(key) }),
  'a group commit of two realms': async (key) => {
    const commits = commit();
    const both = [realmId, otherRealmId].map((realm) => commits(realm, { ...decided, claim: claim(key) }));
    const failed = (await Promise.allSettled(both)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  },
  'snapshots of two roles': () =>
    exportSnapshot(database, async (snapshot) => {
      await snapshot.one(counts`SELECT count(*) FROM users.account`);
      return inSnapshot(database, snapshot.id, (executor) => executor.one(counts`SELECT count(*) FROM users.account`));
    }),
  'a single statement': (key) => database.run(insert(key)),
};

type Fail = (send: () => Promise<unknown>, client: pg.Client) => Promise<unknown>;
const sqlError = () => Object.assign(new Error('out of memory'), { code: '53200' });
/** How a statement fails: before it is sent, in Postgres (which aborts the transaction), or after it took effect. */
const failures: Record<string, Fail> = {
  'is not sent': () => Promise.reject(sqlError()),
  'fails in Postgres': async (_, client) => original.call(client, 'SELECT 1/0'),
  'fails after it took effect': async (send) => {
    await send();
    throw sqlError();
  },
  'loses its connection': async (_, client) => {
    void client.end();
    throw new Error('Connection terminated unexpectedly');
  },
};
const original = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;

/** Makes statement `k` of the pool fail; returns the number of statements. ROLLBACK does not count. */
function failStatement(k: number, fail: Fail): { seen: number } {
  const state = { seen: 0 };
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const send = () => original.apply(this, args);
    if (this === admin || this === locker || args[0] === 'ROLLBACK') return send() as never;
    state.seen++;
    return (state.seen === k ? fail(send, this) : send()) as never;
  });
  return state;
}

/** Connections that are idle in a transaction; a ROLLBACK that was sent may not have arrived yet. */
async function openTransactions(): Promise<number> {
  for (const end = Date.now() + 60_000; ; ) {
    const { rows } = await admin.query<{ open: number }>(
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'failing' AND state LIKE 'idle in transaction%'",
    );
    const open = rows[0]?.open ?? 0;
    if (open === 0 || Date.now() > end) return open;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.each(Object.entries(operations))('%s', (name, run) => {
  test.each(Object.entries(failures))(
    'does not leave a connection in a transaction when a statement %s',
    async (way, fail) => {
      for (let k = 1; k < 50; k++) {
        const state = failStatement(k, fail);
        const outcome = await run(`${name} ${way} ${k}`).then(
          () => 'done',
          () => 'failed',
        );
        vi.restoreAllMocks();
        expect(await openTransactions(), `statement ${k}`).toBe(0);
        // Both connections of the pool work again.
        const both = [0, 1].map(() => database.one(counts`SELECT count(*) FROM users.account`));
        expect(await Promise.all(both), `statement ${k}`).toEqual([{ count: 0 }, { count: 0 }]);
        expect(database.connections().busy, `statement ${k}`).toBe(0);
        if (state.seen < k) {
          expect(outcome).toBe('done');
          expect(k).toBeGreaterThan(1);
          return;
        }
      }
      throw new Error('more statements than expected');
    },
  );
});

test('cancelling any statement does not leave a connection in a transaction', async () => {
  for (const run of Object.values(operations))
    for (let ms = 0; ms < 12; ms++) {
      await withDeadline(ms, () => run(`cancelled ${ms} ${Math.random()}`)).catch(() => undefined);
      expect(await openTransactions()).toBe(0);
      await database.one(counts`SELECT count(*) FROM users.account`);
    }
});

describe('while a lock is held', () => {
  const locked = async <R>(work: () => Promise<R>): Promise<R> => {
    await locker.query('BEGIN; LOCK TABLE users.idempotency');
    try {
      return await work();
    } finally {
      await locker.query('ROLLBACK');
    }
  };
  const waiting = async (): Promise<number> => {
    const { rows } = await admin.query<{ waiting: number }>(
      "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE application_name = 'failing' AND state = 'active'",
    );
    return rows[0]?.waiting ?? 0;
  };
  const gone = () => expect.poll(waiting).toBe(0);

  const writes = ['a unit of work with events', 'a group commit with a key', 'a single statement'];
  test.each(Object.entries(operations).filter(([name]) => writes.includes(name)))(
    '%s ends at its deadline in Postgres too, and is not committed afterwards',
    async (name, run) => {
      const key = `late ${name}`;
      /** Whether the statement was seen to wait before its deadline. */
      const attempt = (ms: number): Promise<boolean> =>
        locked(async () => {
          let isOver = false;
          let wasSeen = false;
          const result = withDeadline(ms, () => run(key))
            .catch((error: unknown) => error)
            .finally(() => {
              isOver = true;
            });
          while (!isOver) if ((await waiting()) === 1) wasSeen = true;
          expect(await result).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
          await gone();
          return wasSeen;
        });
      // On a busy machine the statement may not arrive before an early deadline.
      let ms = 300;
      while (!(await attempt(ms))) ms *= 2;
      const { count } = await database.one(counts`SELECT count(*) FROM users.idempotency WHERE key LIKE ${`%${key}%`}`);
      expect(count).toBe(0);
    },
  );

  test('a request that waits for a connection ends at its deadline', async () => {
    await locked(async () => {
      const holding = [0, 1].map((index) => database.run(insert(`holds ${index}`)));
      await expect.poll(waiting).toBe(2);
      const late = withDeadline(100, () => database.one(counts`SELECT count(*) FROM users.account`));
      await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      await locker.query('ROLLBACK');
      expect(await Promise.all(holding)).toEqual([1, 1]);
    });
    // The cancelled request did not keep the connection that became free for it.
    const both = [0, 1].map(() => database.one(counts`SELECT count(*) FROM users.account`));
    expect(await Promise.all(both)).toHaveLength(2);
  });

  test('a write that times out does not fail the other writes of its batch', async () => {
    const commits = commit();
    const send = (key: string) => () => commits(realmId, { ...decided, claim: claim(key) });
    let patient: Promise<unknown> = Promise.resolve();
    await locked(async () => {
      const hasty = withDeadline(300, send('hasty'));
      patient = withDeadline(60_000, send('patient'));
      await expect(hasty).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    });
    expect(await patient).toEqual({ id: expect.any(Number) });
    const { rows } = await admin.query("SELECT key FROM users.idempotency WHERE key IN ('hasty', 'patient')");
    expect(rows).toEqual([{ key: 'patient' }]);
  });
});

test('a transaction that reaches Postgres too late is not committed', async () => {
  await expect(
    database.connect(async ({ query }) => {
      await query('BEGIN');
      await query('SELECT pg_sleep(0.05)');
      await query('SELECT log.check_deadline(20); COMMIT');
    }),
    // The caller has time left, so it may repeat the transaction.
  ).rejects.toMatchObject({ code: 'NT408' });
  await database.connect(async ({ query }) => {
    await query('BEGIN');
    await query('SELECT log.check_deadline(20000); COMMIT');
  });
});

test('a snapshot of an ended transaction returns SERVICE_UNAVAILABLE', async () => {
  const { id } = await exportSnapshot(database, async (snapshot) => snapshot);
  const read = inSnapshot(database, id, (executor) => executor.one(counts`SELECT count(*) FROM users.account`));
  await expect(read).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('a sweep deletes the rows that its condition selects, and leaves locked ones to the next sweep', async () => {
  for (const key of ['swept', 'held', 'young']) await database.run(insert(`sweep ${key}`));
  await admin.query(`
    UPDATE users.idempotency SET created_at = now() - interval '2 days' WHERE key IN ('sweep swept', 'sweep held')`);
  const isOld = sql.fragment`key LIKE ${'sweep %'} AND created_at < now() - interval '1 day'`;
  const sweep = () => deleteInBatches(database, 'users.idempotency', isOld, () => false);
  const left = async () =>
    (await admin.query("SELECT key FROM users.idempotency WHERE key LIKE 'sweep %' ORDER BY key")).rows;
  await locker.query("BEGIN; SELECT FROM users.idempotency WHERE key = 'sweep held' FOR UPDATE");
  try {
    await sweep();
    expect(await left()).toEqual([{ key: 'sweep held' }, { key: 'sweep young' }]);
  } finally {
    await locker.query('ROLLBACK');
  }
  await sweep();
  expect(await left()).toEqual([{ key: 'sweep young' }]);
});
