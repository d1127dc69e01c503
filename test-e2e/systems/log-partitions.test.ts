import { type Database, serviceUrl } from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markService } from '../../services/event-queue/src/expiry.ts';
import { endPartitions, preparePartitions } from '../../services/event-queue/src/retention.ts';
import { openDatabase, openServers } from '../open-servers.ts';

let servers: Servers;
/** Connects with the role of event-queue. */
let database: Database;
let admin: pg.Client;
beforeAll(async () => {
  servers = await openServers();
  const url = serviceUrl(servers.postgresUrl, 'event_queue', 'secret');
  database = openDatabase(url, 3);
  admin = new pg.Client(servers.postgresUrl);
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await database?.close();
  await servers?.stop();
});

const append = (realm: number, count = 1) =>
  admin.query(`SELECT log.append($1, '{}', '{}', 'test', $2)`, [
    realm,
    JSON.stringify(Array.from({ length: count }, () => ({ type: 'tick' }))),
  ]);
const numbersOf = async (realm: number): Promise<number[]> =>
  (await admin.query('SELECT number::int FROM log.read($1, 0, 100)', [realm])).rows.map(({ number }) => number);
const droppedOf = async (realm: number): Promise<number> =>
  (await admin.query('SELECT dropped::int FROM log.clock WHERE realm_id = $1', [realm])).rows[0].dropped;

const dayOf = async (inDays: number): Promise<string> =>
  (await admin.query(`SELECT ((now() AT TIME ZONE 'UTC')::date + $1::int)::text AS day`, [inDays])).rows[0].day;
const nameOf = (day: string): string => `event_${day.replaceAll('-', '')}`;
/** Events of the realm get a time of that day, as if the clock had been wrong. Returns the name of the partition. */
async function moveTo(inDays: number, realm: number, [first, last]: [number, number]): Promise<string> {
  const day = await dayOf(inDays);
  const [from, to] = [`'${day} 00:00+00'::timestamptz`, `'${day} 00:00+00'::timestamptz + interval '1 day'`];
  const isMade = (await admin.query('SELECT to_regclass($1) AS name', [`log.${nameOf(day)}`])).rows[0].name;
  if (!isMade)
    await admin.query(`CREATE TABLE log.${nameOf(day)} PARTITION OF log.event FOR VALUES FROM (${from}) TO (${to})`);
  await admin.query(`UPDATE log.event SET created_at = ${from} WHERE realm_id = $1 AND number BETWEEN $2 AND $3`, [
    realm,
    first,
    last,
  ]);
  return nameOf(day);
}

/** Detaches a partition as a process does that is cut off while it waits for a reader. */
async function beginDetaching(name: string): Promise<void> {
  const [reader, detaching] = [new pg.Client(servers.postgresUrl), new pg.Client(servers.postgresUrl)];
  await Promise.all([reader.connect(), detaching.connect()]);
  const { rows } = await detaching.query('SELECT pg_backend_pid() AS pid');
  await reader.query('BEGIN; SELECT count(*) FROM log.event');
  try {
    const cutOff = expect(
      detaching.query(`ALTER TABLE log.event DETACH PARTITION log.${name} CONCURRENTLY`),
    ).rejects.toThrow('canceling');
    const isPending = async (): Promise<boolean> =>
      (await admin.query('SELECT FROM pg_inherits WHERE inhdetachpending AND inhrelid = $1::regclass', [`log.${name}`]))
        .rowCount === 1;
    await expect.poll(isPending).toBe(true);
    await admin.query('SELECT pg_cancel_backend($1)', [rows[0].pid]);
    await cutOff;
  } finally {
    await Promise.all([reader.end(), detaching.end()]);
  }
}
const states = {
  detached: (name: string) => admin.query(`ALTER TABLE log.event DETACH PARTITION log.${name} CONCURRENTLY`),
  pending: beginDetaching,
};

describe.each(Object.keys(states) as (keyof typeof states)[])('a partition that is %s', (state) => {
  test('is attached again with its events, if it is that of today', async () => {
    const realm = state === 'detached' ? 1 : 2;
    await admin.query('SELECT log.create_realm($1)', [realm]);
    await append(realm);
    await states[state](nameOf(await dayOf(0)));
    await expect(append(realm)).rejects.toThrow('no partition');
    await preparePartitions(database);
    await append(realm);
    expect(await numbersOf(realm)).toEqual([1, 2]);
    // Ready to be detached later.
    await states[state](nameOf(await dayOf(0)));
    await preparePartitions(database);
    await append(realm);
    expect(await numbersOf(realm)).toEqual([1, 2, 3]);
  });

  test('is dropped, if it is old', async () => {
    const realm = state === 'detached' ? 3 : 4;
    await admin.query('SELECT log.create_realm($1)', [realm]);
    const name = await moveTo(-20, realm, [1, 1]);
    await states[state](name);
    expect(await endPartitions(database, 1)).toEqual({ dropped: [name], heldBackBy: undefined });
  });
});

test('an interrupted detachment is finished even if the transaction of the lock has a snapshot', async () => {
  const holding: Database['connect'] = (work) =>
    database.connect((connection) =>
      work({
        ...connection,
        query: async (statement) => {
          const result = await connection.query(statement);
          if (String(statement).startsWith('BEGIN')) await connection.query('DECLARE held CURSOR FOR SELECT 1');
          return result;
        },
      }),
    );
  await admin.query('SELECT log.create_realm(8)');
  const name = await moveTo(-20, 8, [1, 1]);
  await beginDetaching(name);
  expect((await endPartitions({ ...database, connect: holding }, 1))?.dropped).toEqual([name]);
});

test('old partitions are dropped even if the detachment of a later one was interrupted', async () => {
  await admin.query('SELECT log.create_realm(5)');
  const name = await moveTo(-20, 5, [1, 1]);
  const yesterday = await moveTo(-1, 5, [1, 1]);
  await beginDetaching(yesterday);
  expect((await endPartitions(database, 72))?.dropped).toEqual([name]);
  await admin.query(`DROP TABLE log.${yesterday}`);
});

test('events stored while the clock was set back do not shorten the life of earlier events', async () => {
  await admin.query('SELECT log.create_realm(6)');
  await append(6, 12);
  const first = await moveTo(-12, 6, [1, 3]);
  // 4 to 6 were stored yesterday, 7 to 9 while the clock was wrong, the others today.
  const yesterday = await moveTo(-1, 6, [4, 6]);
  const wrong = await moveTo(-11, 6, [7, 9]);
  const other = await moveTo(-10, 6, [0, 0]);
  const kept = [4, 5, 6, 7, 8, 9, 10, 11, 12];
  expect((await endPartitions(database, 72))?.dropped).toEqual([first, other]);
  expect([await droppedOf(6), await numbersOf(6)]).toEqual([3, kept]);
  expect((await endPartitions(database, 72))?.dropped).toEqual([]);
  // Three days later.
  await moveTo(-9, 6, [4, 6]);
  expect((await endPartitions(database, 72))?.dropped).toEqual([wrong, nameOf(await dayOf(-9))]);
  expect([await droppedOf(6), await numbersOf(6)]).toEqual([9, [10, 11, 12]]);
  await admin.query(`DROP TABLE log.${yesterday}`);
});

test('events stored while the clock was ahead do not prolong the life of older events', async () => {
  await admin.query('SELECT log.create_realm(7)');
  await append(7, 6);
  const old = await moveTo(-10, 7, [3, 4]);
  await moveTo(3, 7, [1, 2]);
  expect((await endPartitions(database, 72))?.dropped).toEqual([old]);
  expect(await droppedOf(7)).toBe(4);
});

describe('after an outage of 30 hours, with a retention of 24 hours', () => {
  const hours = 24;
  const untilService = async (): Promise<void> => void (await admin.query('UPDATE event_queue.alive SET at = now()'));
  const outages = async () => (await admin.query('SELECT FROM event_queue.outage')).rowCount;
  beforeAll(async () => {
    await admin.query('SELECT log.create_realm(9)');
    await append(9, 4);
  });

  test('the events of before are kept until clients could poll for the retention', async () => {
    const name = await moveTo(-2, 9, [1, 2]);
    await admin.query("UPDATE event_queue.alive SET at = now() - interval '30 hours'");
    expect((await endPartitions(database, hours))?.dropped).toEqual([]);
    await markService(database);
    expect((await endPartitions(database, hours))?.dropped).toEqual([]);
    expect([await numbersOf(9), await outages()]).toEqual([[1, 2, 3, 4], 1]);
    // A day of service later.
    await admin.query(
      "UPDATE event_queue.outage SET from_at = from_at - interval '24 hours', to_at = to_at - interval '24 hours'",
    );
    await untilService();
    expect((await endPartitions(database, hours))?.dropped).toEqual([name]);
    expect([await numbersOf(9), await outages()]).toEqual([[3, 4], 0]);
  });

  test('an outage whose end two processes see is recorded once', async () => {
    const other = openDatabase(serviceUrl(servers.postgresUrl, 'event_queue', 'secret'), 2);
    const holder = new pg.Client(servers.postgresUrl);
    await holder.connect();
    await admin.query("UPDATE event_queue.alive SET at = now() - interval '30 hours'");
    await holder.query('BEGIN; SELECT FROM event_queue.alive FOR UPDATE');
    const marked = [markService(database), markService(other)];
    const waiting = "SELECT FROM pg_stat_activity WHERE usename = 'natter_event_queue' AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(2);
    await holder.end();
    await Promise.all(marked);
    await other.close();
    expect(await outages()).toBe(1);
    await admin.query('DELETE FROM event_queue.outage');
  });

  test('an outage counts up to now while its end is ahead because the clock was set back by seconds', async () => {
    const name = await moveTo(-2, 9, [3, 3]);
    await admin.query(
      "INSERT INTO event_queue.outage VALUES (now() - interval '30 hours', now() + interval '30 seconds'), (now() + interval '20 seconds', now() + interval '30 seconds')",
    );
    await untilService();
    expect((await endPartitions(database, hours))?.dropped).toEqual([]);
    expect([await numbersOf(9), await outages()]).toEqual([[3, 4], 2]);
    await admin.query('DELETE FROM event_queue.outage');
    expect((await endPartitions(database, hours))?.dropped).toEqual([name]);
  });

  test('an outage that was measured with a clock that was ahead does not count', async () => {
    const name = await moveTo(-2, 9, [4, 4]);
    await admin.query("INSERT INTO event_queue.outage VALUES (now() - interval '1 hour', now() + interval '9 days')");
    await untilService();
    expect((await endPartitions(database, hours))?.dropped).toEqual([name]);
    expect(await outages()).toBe(0);
  });
});
