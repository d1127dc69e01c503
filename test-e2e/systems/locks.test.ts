import { channelPermissions } from '@natter/contracts';
import {
  createUnitOfWork,
  type Database,
  lock,
  lockFor,
  type Query,
  serviceUrl,
  sql,
  tryLock,
  type UnitOfWork,
  type Work,
  withCost,
} from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { countRealms } from '../../services/channels/src/activity/daily-count.ts';
import { announceDefaults, type DefaultList } from '../../services/channels/src/model/default-events.ts';
import type { Directory } from '../../services/channels/src/model/directory/directory.ts';
import { DirectoryCache } from '../../services/channels/src/model/directory/read-directory.ts';
import { attachmentRemoved } from '../../services/messaging/src/model/files/attachment-row.ts';
import { forgetReferences } from '../../services/messaging/src/model/files/references.ts';
import { applyRetention, type Retention } from '../../services/messaging/src/retention/retention.ts';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

/** The same number is a realm's id in one service and a user's id in the other. */
const id = 7;
let servers: Servers;
const databases: Database[] = [];
let users: UnitOfWork;
let messaging: UnitOfWork;
let messagingDatabase: Database;

beforeAll(async () => {
  servers = await openServers();
  users = createUnitOfWork(databaseOf('users'), ignored);
  messagingDatabase = databaseOf('messaging');
  messaging = createUnitOfWork(messagingDatabase, ignored);
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await servers?.stop();
});

function databaseOf(schema: 'users' | 'messaging' | 'channels'): Database {
  const url = serviceUrl(servers.postgresUrl, schema, 'secret');
  const database = openDatabase(url, 4);
  databases.push(database);
  return database;
}
const inRealm = <R>(unitOfWork: UnitOfWork, schema: string, work: (work: Work) => Promise<R>): Promise<R> =>
  unitOfWork({ realmId: id, schema, claim: undefined }, work);

test('a draft is stored while linkifiers change in a realm with the same number as its user', async () => {
  await inRealm(users, 'users', async (work) => {
    await lock(work, 'linkifiers');
    await inRealm(messaging, 'messaging', (other) => lockFor(other, 'drafts', id, 'shared'));
  });
});

test('scheduled messages are delivered while playgrounds change', async () => {
  await inRealm(users, 'users', async (work) => {
    await lock(work, 'playgrounds');
    expect(await inRealm(messaging, 'messaging', (other) => tryLock(other, 'scheduled-delivery'))).toBe(true);
  });
});

test('the time that a unit waits for a lock does not count as its cost', async () => {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = inRealm(users, 'users', async (work) => {
    await lock(work, 'playgrounds');
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const waiter = inRealm(users, 'users', (work) =>
    withCost(async (costMs) => {
      await lock(work, 'playgrounds');
      return costMs();
    }),
  );
  setTimeout(released.resolve, 300);
  await holder;
  expect(await waiter).toBe(0);
});

test('changes of linkifiers and those of a process of the previous release wait for each other', async () => {
  const previous = new pg.Client({ connectionString: serviceUrl(servers.postgresUrl, 'users', 'secret') });
  await previous.connect();
  const order: string[] = [];
  await previous.query(`BEGIN; SELECT pg_advisory_xact_lock(7301, ${id})`);
  const changed = inRealm(users, 'users', async (work) => {
    await lock(work, 'linkifiers');
    order.push('this release');
    const { rows } = await previous.query(`SELECT pg_try_advisory_xact_lock(7301, ${id}) AS is_taken`);
    return rows[0].is_taken as boolean;
  });
  const waiting = 'SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted';
  while ((await previous.query(waiting)).rows[0].count === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  order.push('previous release');
  await previous.query('COMMIT');
  expect(await changed).toBe(false);
  expect(order).toEqual(['previous release', 'this release']);
  await previous.end();
});

/**
 * An event with a whole list replaces what clients have, so the last one must contain all changes that were committed
 * before it: a unit takes a lock, reads the list in a later statement, and holds the lock until its commit.
 */
test.each<[DefaultList, number, (realmId: number, name: string) => Query]>([
  [
    'channels',
    id + 2,
    (realmId, name) => sql.unsafe`
      INSERT INTO channels.channel (realm_id, name, permissions, is_default) VALUES (${realmId}, ${name}, '{}'::jsonb, true)`,
  ],
  [
    'groups',
    id + 3,
    (realmId, name) =>
      sql.unsafe`INSERT INTO channels.default_group (realm_id, name, description) VALUES (${realmId}, ${name}, '')`,
  ],
])('if two units change the default %s at once, the last one announces both changes', async (list, realmId, add) => {
  const admin = new pg.Client(servers.postgresUrl);
  await admin.connect();
  await admin.query(`SELECT log.create_realm(${realmId})`);
  const unitOfWork = createUnitOfWork(databaseOf('channels'), ignored);
  const directory = { nonGuests: () => [] } as unknown as Directory;
  const adding = (name: string, announced: () => Promise<void>) =>
    unitOfWork({ realmId, schema: 'channels', claim: undefined }, async (work) => {
      await work.run(add(realmId, name));
      await announceDefaults({ work, directory }, [list]);
      await announced();
    });
  const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = adding('first', () => {
    read.resolve();
    return released.promise;
  });
  await read.promise;
  let hasEnded = false;
  const second = adding('second', async () => undefined).finally(() => {
    hasEnded = true;
  });
  const isWaiting = async () => (await admin.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0;
  await expect.poll(async () => hasEnded || (await isWaiting())).toBe(true);
  released.resolve();
  await Promise.all([first, second]);
  const { rows } = await admin.query(`
    SELECT json_array_length(coalesce(event->'body'->'default_streams', event->'body'->'default_stream_groups')) AS length
    FROM log.event WHERE realm_id = ${realmId} ORDER BY number`);
  expect(rows.map(({ length }) => length)).toEqual([1, 2]);
  await admin.end();
});

describe('while two schedulers apply retention and a client changes an old message', () => {
  const [aged, other] = [1, 2];
  const retention = {
    readsOn: () => false,
    sizes: new Map(),
    background: (_: number, work: (unit: Work) => Promise<unknown>) => inRealm(messaging, 'messaging', work),
    policies: { get: async () => ({ settings: { message_retention_days: -1 }, version: 0 }) },
    channels: {
      get: async (channel_id: number) => ({
        channel_id,
        version: 0,
        is_private: true,
        history_public: true,
        subscribers: [[1, 1]],
        message_retention_days: channel_id === aged ? 2 : -1,
      }),
    },
  } as unknown as Retention;
  let admin: pg.Client;
  let blocker: pg.Client;

  beforeAll(async () => {
    Object.assign(retention, { database: messagingDatabase });
    [admin, blocker] = [new pg.Client(servers.postgresUrl), new pg.Client(servers.postgresUrl)];
    await Promise.all([admin.connect(), blocker.connect()]);
    await admin.query(`SELECT log.create_realm(${id})`);
  });
  afterAll(() => Promise.all([admin.end(), blocker.end()]));

  /** Ends the change when each scheduler has finished or waits for it. */
  async function whileChanging(change: string, end: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await blocker.query(`BEGIN; ${change}`);
    let finished = 0;
    const schedulers = [1, 2].map(() =>
      applyRetention(
        retention,
        () => false,
        (error) => expect.unreachable(String(error)),
      ).finally(() => finished++),
    );
    const waiting = async (): Promise<number> =>
      (await admin.query('SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted')).rows[0].count;
    await expect.poll(async () => finished + (await waiting())).toBe(2);
    await blocker.query(end);
    await Promise.all(schedulers);
  }

  const send = (...messageIds: number[]) =>
    admin.query(
      `INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, topic, content, rendered_content, client, sent_at)
       SELECT ${id}, unnest($1::bigint[]), 1, ${aged}, 'old', 'x', 'x', 'test', now() - interval '3 days'`,
      [messageIds],
    );
  const channelOf = async (messageId: number): Promise<number | undefined> =>
    (await admin.query(`SELECT channel_id FROM messaging.message WHERE id = ${messageId}`)).rows[0]?.channel_id;
  /** The ids of messages with a deletion in the log, repeated for each event. */
  const told = async (): Promise<number[]> => {
    const { rows } = await admin.query(`SELECT (form->'patch'->>'message_id')::int AS message_id
      FROM log.event, json_array_elements(event->'forms') form
      WHERE realm_id = ${id} AND type = 'delete_message' AND form->'patch'->>'message_id' IS NOT NULL ORDER BY 1`);
    return rows.map((row) => row.message_id);
  };

  test('each message is deleted once', async () => {
    await send(11, 12);
    await whileChanging('SELECT FROM messaging.message WHERE id = 11 FOR UPDATE', 'ROLLBACK');
    await whileChanging('SELECT', 'ROLLBACK');
    expect(await told()).toEqual([11, 12]);
  });

  test('a message that is moved to a channel without retention stays there', async () => {
    await send(21, 22);
    await whileChanging(`UPDATE messaging.message SET channel_id = ${other} WHERE id = 21`, 'COMMIT');
    expect([await channelOf(21), await channelOf(22)]).toEqual([other, undefined]);
    expect(await told()).toEqual([11, 12, 22]);
  });
});

test('the daily figures of a large realm are updated in groups of channels, each channel once', async () => {
  const large = id + 1;
  const url = servers.postgresUrl;
  const owner = openDatabase(url, 4);
  databases.push(owner);
  await owner.any(sql.unsafe`SELECT log.create_realm(${large})`);
  const permissions = Object.fromEntries(Object.keys(channelPermissions).map((name) => [name, 1]));
  // The figure of a channel that is younger than a week is null.
  await owner.run(sql.unsafe`
    INSERT INTO channels.channel (realm_id, name, permissions, weekly_traffic)
    SELECT ${large}::int, 'channel ' || n, ${JSON.stringify(permissions)}::jsonb, 7 FROM generate_series(1, 450) n`);
  const count = sql.type(z.object({ count: z.number() }));
  const left = async () =>
    (await owner.one(count`SELECT count(*) AS count FROM channels.channel WHERE weekly_traffic = 7`)).count;
  const unitOfWork = createUnitOfWork(owner, ignored);
  const background = <R>(realmId: number, handler: (work: Work) => Promise<R>): Promise<R> =>
    unitOfWork({ realmId, schema: 'channels', claim: undefined }, handler);
  const errors: unknown[] = [];

  const request = new pg.Client({ connectionString: url });
  await request.connect();
  await request.query('BEGIN; SELECT FROM channels.channel ORDER BY id DESC LIMIT 1 FOR UPDATE');
  const counting = countRealms({ directories: new DirectoryCache(), owner: { background } }, [large], {
    isStopped: () => false,
    onError: (error) => errors.push(error),
  });
  await expect.poll(left).toBe(50);
  await request.query('COMMIT');
  await request.end();
  await counting;
  expect([await left(), errors]).toEqual([0, []]);
  const announced = await owner.one(count`
    SELECT count(DISTINCT event #>> '{body,stream_id}') AS count FROM log.event WHERE realm_id = ${large} AND type = 'stream'`);
  expect(announced).toEqual({ count: 450 });
});

describe('units that change references to one file', () => {
  const realm = id + 2;
  const [file, other] = [1, 2];
  let admin: pg.Client;
  const within = <R>(work: (unit: Work) => Promise<R>): Promise<R> =>
    messaging({ realmId: realm, schema: 'messaging', claim: undefined }, work);

  beforeAll(async () => {
    admin = new pg.Client(servers.postgresUrl);
    await admin.connect();
    await admin.query(`SELECT log.create_realm(${realm})`);
  });
  afterAll(() => admin.end());
  beforeEach(() =>
    admin.query(`
      DELETE FROM messaging.attachment WHERE realm_id = ${realm};
      DELETE FROM messaging.attachment_message WHERE realm_id = ${realm};
      DELETE FROM log.event WHERE realm_id = ${realm} AND type = 'attachment';
      INSERT INTO messaging.upload_space VALUES (${realm}, 10) ON CONFLICT (realm_id) DO UPDATE SET bytes = 10;
      INSERT INTO messaging.attachment (id, realm_id, owner_id, name, token, path_id, file_key, content_type, size) OVERRIDING SYSTEM VALUE
      SELECT n, ${realm}, 1, 'a', n, n, gen_random_uuid(), 'text/plain', 5 FROM unnest(ARRAY[${file}, ${other}]) n;
      INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, topic, content, rendered_content, client, sent_at)
      SELECT ${realm}, n, 1, 1, 'a', 'x', 'x', 'test', now() FROM generate_series(31, 33) n ON CONFLICT DO NOTHING;
      INSERT INTO messaging.attachment_message (realm_id, attachment_id, message_id)
      SELECT ${realm}, a, m FROM unnest(ARRAY[${file}, ${other}]) a, generate_series(31, 33) m`),
  );

  /** Runs the second unit when the first has made its change; ends the first when the second has ended or waits. */
  async function overlap(first: (work: Work) => Promise<void>, second: (work: Work) => Promise<void>, rest = first) {
    const [changed, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const earlier = within(async (work) => {
      await first(work);
      changed.resolve();
      await released.promise;
      if (rest !== first) await rest(work);
    });
    await changed.promise;
    let isEnded = false;
    const later = within(second).finally(() => {
      isEnded = true;
    });
    const waiting = async (): Promise<number> =>
      (await admin.query('SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted')).rows[0].count;
    await expect.poll(async () => isEnded || (await waiting()) > 0).toBe(true);
    released.resolve();
    await Promise.all([earlier, later]);
  }
  /** The events about one file in the log, in order. */
  const told = async (attachmentId: number): Promise<{ messages: number[]; used: number }[]> => {
    const { rows } = await admin.query(`
      SELECT ARRAY(SELECT (m->>'id')::int FROM json_array_elements(event#>'{body,attachment,messages}') m) AS messages,
        (event#>>'{body,upload_space_used}')::int AS used
      FROM log.event WHERE realm_id = ${realm} AND type = 'attachment' AND event#>>'{body,attachment,id}' = '${attachmentId}' ORDER BY number`);
    return rows;
  };
  const deadlocks = async (): Promise<number> =>
    Number((await admin.query('SELECT sum(deadlocks) AS count FROM pg_stat_database')).rows[0].count);

  test('announce the references in the order of the changes', async () => {
    await overlap(
      (work) => forgetReferences(work, [31]),
      (work) => forgetReferences(work, [32]),
    );
    expect((await told(file)).map(({ messages }) => messages)).toEqual([[32, 33], [33]]);
  });

  test('announce the space in the order of its changes', async () => {
    await overlap(
      (work) => forgetReferences(work, [31]),
      async (work) => {
        const { bytes } = await work.one(sql.type(z.object({ bytes: z.number() }))`
          UPDATE messaging.upload_space SET bytes = bytes + 5 WHERE realm_id = ${realm} RETURNING bytes`);
        work.emit(attachmentRemoved(1, file, bytes));
      },
    );
    expect((await told(file)).map(({ used }) => used)).toEqual([10, 15]);
  });

  test('do not deadlock', async () => {
    const before = await deadlocks();
    const forgetAll = (attachment: number) => async (work: Work) => {
      await work.run(sql.unsafe`DELETE FROM messaging.attachment WHERE id = ${attachment}`);
      await work.run(
        sql.unsafe`DELETE FROM messaging.attachment_message WHERE realm_id = ${realm} AND attachment_id = ${attachment}`,
      );
    };
    // The deletion of a file during that of messages which refer to it.
    await overlap(
      async (work) => void (await work.run(sql.unsafe`SELECT FROM messaging.attachment WHERE id = ${file} FOR UPDATE`)),
      (work) => forgetReferences(work, [31, 32]),
      forgetAll(file),
    );
    expect(await deadlocks()).toBe(before);
    expect(await told(file)).toEqual([]);
    expect((await told(other)).map(({ messages }) => messages)).toEqual([[33]]);
  });
});
