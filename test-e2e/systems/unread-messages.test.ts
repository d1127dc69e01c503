import { type Database, sql } from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isRead } from '../../services/messaging/src/model/read-state.ts';
import { pageOf } from '../../services/messaging/src/model/reading/page.ts';
import type { Reader } from '../../services/messaging/src/model/reading/reader.ts';
import type { Scope } from '../../services/messaging/src/model/reading/scope.ts';
import { type UnreadAmong, unreadMessages } from '../../services/messaging/src/model/unread-messages.ts';
import { openDatabase, openServers } from '../open-servers.ts';

const realmId = 7;
const userId = 5;
const idRow = z.object({ id: z.number() });
const triedRow = z.object({ count: z.number() });
const floor = 400;

/** 4,000 messages of 40 channels, and direct ones, with everything that makes a message read or unread. */
const data = `
  SELECT setseed(0.5);
  INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, sent_channel_id, recipient_ids, conversation, topic, content,
    rendered_content, client, is_read_by_sender, unread_for)
  SELECT ${realmId}, 2 * n, CASE WHEN random() < 0.1 THEN ${userId} ELSE 10 + n % 3 END, c.now, c.sent,
    CASE WHEN c.sent IS NULL THEN '{5,10}'::int[] END, CASE WHEN c.sent IS NULL THEN '5,10' END, 't', '', '', 'test', random() < 0.5,
    CASE WHEN random() < 0.05 THEN ARRAY[${userId}, 9] WHEN random() < 0.05 THEN ARRAY[9] END
  FROM generate_series(1, 4000) n, LATERAL (
    SELECT s.sent, CASE WHEN s.sent IS NOT NULL AND random() < 0.1 THEN 1 + n % 40 ELSE s.sent END AS now
    FROM (SELECT CASE WHEN random() < 0.1 THEN NULL ELSE 1 + (n * 7) % 40 END AS sent) s) c;
  INSERT INTO messaging.direct_message (realm_id, user_id, message_id)
  SELECT ${realmId}, ${userId}, id FROM messaging.message WHERE sent_channel_id IS NULL AND random() < 0.8;
  INSERT INTO messaging.subscription_period (realm_id, user_id, channel_id, from_id, to_id)
  SELECT ${realmId}, ${userId}, c, p * 1600 + c * 20, CASE WHEN p < 4 THEN p * 1600 + c * 20 + 1000 END
  FROM generate_series(1, 30) c, generate_series(0, 4) p;
  INSERT INTO messaging.read_floor VALUES (${realmId}, ${userId}, ${floor});
  INSERT INTO messaging.read_block (realm_id, user_id, block, bits)
  SELECT ${realmId}, ${userId}, b, (SELECT string_agg(CASE WHEN random() < 0.6 THEN '1' ELSE '0' END, '') FROM generate_series(1, 4096 + b * 0))::bit(4096)
  FROM generate_series(0, 0) b;
  INSERT INTO messaging.flag (realm_id, user_id, flag, message_id)
  SELECT ${realmId}, ${userId}, 'unread', id FROM messaging.message WHERE random() < 0.03;
  INSERT INTO messaging.flag (realm_id, user_id, flag, message_id)
  SELECT ${realmId}, ${userId}, 'starred', id FROM messaging.message WHERE random() < 0.2 ORDER BY random();
  INSERT INTO messaging.reaction (realm_id, message_id, user_id, emoji_name, emoji_code, reaction_type)
  SELECT ${realmId}, id, 10, 'tada', '1f389', 'unicode_emoji' FROM messaging.message WHERE random() < 0.2 ORDER BY random();
  INSERT INTO messaging.mute_period VALUES (${realmId}, ${userId}, 11, 2400, 4000), (${realmId}, ${userId}, 11, 6400, NULL);
  INSERT INTO messaging.withdrawal VALUES (${realmId}, 1, 0, set_bit(repeat('0', 4096)::bit(4096), ${userId}, 1)), (${realmId}, 2, 0, repeat('0', 4096)::bit(4096));
  INSERT INTO messaging.withdrawn_message
  SELECT ${realmId}, id, 1 + (random() < 0.5)::int FROM messaging.message WHERE random() < 0.1;`;

/** Decides for each message alone. */
const oneByOne = sql.fragment`NOT ${isRead(userId)} AND (
  EXISTS (SELECT FROM messaging.flag u WHERE u.realm_id = m.realm_id AND u.user_id = ${userId} AND u.flag = 'unread' AND u.message_id = m.id)
  OR (m.id > ${floor} AND (m.sent_channel_id IS NOT NULL OR EXISTS (
    SELECT FROM messaging.direct_message d WHERE d.realm_id = m.realm_id AND d.user_id = ${userId} AND d.message_id = m.id))))`;

/** Settings under which PostgreSQL plans otherwise, as it may with other statistics. */
const planners: Record<string, string[]> = {
  'its own plan': [],
  'parallel plans': [
    'parallel_setup_cost=0',
    'parallel_tuple_cost=0',
    'min_parallel_table_scan_size=0',
    'min_parallel_index_scan_size=0',
  ],
  'no nested loops': ['enable_nestloop=off', 'enable_memoize=off'],
  'no sorts': ['enable_sort=off', 'enable_incremental_sort=off'],
  'no hashes': ['enable_hashagg=off', 'enable_hashjoin=off', 'enable_bitmapscan=off'],
  'no indexes': ['enable_indexscan=off', 'enable_indexonlyscan=off', 'enable_bitmapscan=off'],
};

const scopes: [string, UnreadAmong, ReturnType<typeof sql.fragment>][] = [
  ['all', 'all', sql.fragment`true`],
  ['a channel', { channelId: 8 }, sql.fragment`m.channel_id = 8`],
  ['direct messages', 'direct', sql.fragment`m.conversation IS NOT NULL`],
  [
    'all that are starred',
    'all',
    sql.fragment`EXISTS (SELECT FROM messaging.flag fl WHERE fl.realm_id = m.realm_id AND fl.user_id = ${userId} AND fl.flag = 'starred' AND fl.message_id = m.id)`,
  ],
  [
    'all with reactions',
    'all',
    sql.fragment`EXISTS (SELECT FROM messaging.reaction re WHERE re.realm_id = m.realm_id AND re.message_id = m.id)`,
  ],
];

let servers: Servers;
let expected: Map<string, { id: number }[]>;
beforeAll(async () => {
  servers = await openServers();
  const client = new pg.Client(servers.postgresUrl);
  await client.connect();
  await client.query(data);
  await client.end();
  const database = connectWith([]);
  const found = scopes.map(async ([scope, , condition]) => {
    const messages = await database.any(sql.type(idRow)`
      SELECT m.id FROM messaging.message m WHERE m.realm_id = ${realmId} AND ${condition} AND ${oneByOne} ORDER BY m.id`);
    expect(messages.length).toBeGreaterThan(10);
    return [scope, messages] as const;
  });
  expected = new Map(await Promise.all(found).finally(() => database.close()));
});
afterAll(() => servers?.stop());

function connectWith(settings: string[]): Database {
  const options = encodeURIComponent(settings.map((one) => `-c ${one}`).join(' '));
  const url = `${servers.postgresUrl}?options=${options}`;
  return openDatabase(url, 1);
}

describe.each(Object.entries(planners))('with %s', (_, settings) => {
  let database: Database;
  beforeAll(() => {
    database = connectWith(settings);
  });
  afterAll(() => database?.close());

  test.each(scopes)(
    'unread messages of %s are found in the order of their ids, with or without a limit',
    async (scope, among, condition) => {
      const messages = expected.get(scope) ?? [];
      for (const order of ['ASC', 'DESC'] as const) {
        const found = (limit: number) =>
          database.any(sql.type(idRow)`
        SELECT m.id FROM ${unreadMessages(realmId, userId, { among, where: condition, order })} m LIMIT ${limit}`);
        const sorted = order === 'ASC' ? messages : messages.toReversed();
        expect(await found(1_000_000)).toEqual(sorted);
        expect(await found(20)).toEqual(sorted.slice(0, 20));
      }
    },
  );

  test('the search for the first unread message that is not muted tries none behind it', async () => {
    const ids = (expected.get('all') ?? []).map(({ id }) => id);
    const wanted = ids[5] ?? 0;
    await database.run(sql.unsafe`CREATE TEMPORARY SEQUENCE tried`);
    const reader = { executor: database, meta: { realmId }, actor: { userId } } as unknown as Reader;
    const scope = {
      unreadAmong: 'all',
      conditions: [sql.fragment`true`],
      mayBeFirstUnread: sql.fragment`(nextval('tried') > 0 AND m.id >= ${wanted})`,
    } as unknown as Scope;
    const page = { anchor: 'first_unread', includeAnchor: false, before: 0, after: 0 };
    expect((await pageOf(reader, scope, page)).anchor).toBe(wanted);
    expect(await database.one(sql.type(triedRow)`SELECT last_value AS count FROM tried`)).toEqual({ count: 6 });
  });
});
