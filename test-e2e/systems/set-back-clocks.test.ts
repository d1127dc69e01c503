import { unavailable } from '@natter/contracts';
import { type Database, sql, type Work } from '@natter/database';
import { connectRedis, type LogRedis } from '@natter/event-log';
import type { Servers } from '@natter/local';
import { createLogger } from '@natter/service-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { takeJobs } from '../../services/messaging/src/link-previews/jobs.ts';
import { fetchesLeft } from '../../services/messaging/src/link-previews/page-cache.ts';
import { countMoved, requireMoveAllowance } from '../../services/messaging/src/messages/move-allowance.ts';
import {
  deliverWebhook,
  type WebhookDelivery,
} from '../../services/messaging/src/outgoing-webhooks/deliver-webhook.ts';
import { claim, dueBots, endOverlongWaits } from '../../services/messaging/src/outgoing-webhooks/delivery-row.ts';
import { applyRetention, type Retention } from '../../services/messaging/src/retention/retention.ts';
import { makeNoticesDue } from '../../services/messaging/src/scheduled-messages/make-notices-due.ts';
import { forgetEnded } from '../../services/messaging/src/scheduler-service.ts';
import { mayNotify } from '../../services/messaging/src/system-messages/notice-allowance.ts';
import { createHotState, withKnownTimes } from '../../services/presence/src/hot-state.ts';
import { createRecordState } from '../../services/presence/src/record-state.ts';
import { startWriteBehind } from '../../services/presence/src/write-behind.ts';
import { createKeySeal } from '../../services/users/src/model/credentials/key-seal.ts';
import { createMailQueue } from '../../services/users/src/model/mail/mail-queue.ts';
import { openDatabase, openServers } from '../open-servers.ts';

const realmId = 7;
const daySeconds = 86_400;

let servers: Servers;
let database: Database;
let redis: LogRedis;
/** Seconds of the clock of Redis. */
let clock = Math.floor(Date.now() / 1000);
const nowMs = (): number => clock * 1_000;
beforeAll(async () => {
  servers = await openServers();
  database = openDatabase(servers.postgresUrl, 2);
  await new Promise<void>((resolve) => {
    redis = connectRedis(servers.redisUrl, (state) => state === 'up' && resolve());
  });
});
afterAll(async () => {
  redis?.close();
  await database?.close();
  await servers?.stop();
});

describe('after the clock of Postgres was set back by a day', () => {
  /** A unit of work that changes no versions and announces nothing. */
  const work = (): Work => ({ ...database, realmId }) as unknown as Work;
  const row = sql.type(z.object({ is: z.boolean() }));

  test('a user can move messages, and a retry is not refused because of its first attempt', async () => {
    await countedUntil('move_allowance', 1);
    expect(await requireMoveAllowance(work(), 1, { requestId: 'first', known: 0 })).toBe(0);
    await countMoved(work(), 1, 'first', { count: 50_000, before: 0 });
    await expect(requireMoveAllowance(work(), 1, { requestId: 'second', known: 0 })).rejects.toThrow(
      'too many messages',
    );
    expect(await requireMoveAllowance(work(), 1, { requestId: 'first', known: 0 })).toBe(50_000);
  });

  test('the notification bot writes about changes of a user', async () => {
    await countedUntil('notice_allowance', 1);
    expect(await mayNotify(work(), 1, 5_000)).toBe(true);
    expect(await mayNotify(work(), 1, 1)).toBe(false);
  });

  const countedUntil = (table: string, userId: number) =>
    database.run(sql.unsafe`
      INSERT INTO ${sql.identifier(['messaging', table])}
      VALUES (${realmId}, ${userId}, now() + make_interval(secs => ${daySeconds + 60}))`);

  test('previews are created, and each job is taken once', async () => {
    await database.run(sql.unsafe`
      INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls, taken_until)
      VALUES (${realmId}, 1, 'x', '{}', now() + interval '1 day')`);
    const take = () => takeJobs(database, { limit: 8, perRealm: 2, running: [] });
    expect(await take()).toHaveLength(1);
    expect(await take()).toHaveLength(0);
  });

  test('pages with a future fetch time do not count', async () => {
    const message = { realm_id: realmId, message_id: 9_000_001 };
    await database.run(sql.unsafe`
      INSERT INTO messaging.message (realm_id, id, sender_id, content, rendered_content, client)
      VALUES (${realmId}, ${message.message_id}, 1, '', '', '')`);
    await database.run(sql.unsafe`
      INSERT INTO messaging.link_preview (realm_id, url_hash, caused_by, fetched_at, expires_at)
      SELECT ${realmId}, n::text::bytea, 1, now() + interval '1 day', now() + interval '1 day' FROM generate_series(1, 10) n`);
    const { left } = await fetchesLeft(database, message);
    await database.run(sql.unsafe`UPDATE messaging.link_preview SET fetched_at = now() - interval '1 minute'`);
    expect(left - (await fetchesLeft(database, message)).left).toBe(10);
  });

  test('messages are posted to bots, except those that another process posts now', async () => {
    await database.run(sql.unsafe`
      INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, attempts, due_at, created_at)
      SELECT ${realmId}, 5, n, n, now() + interval '1 day', now() FROM generate_series(0, 11) n`);
    expect(await endOverlongWaits(database)).toBe(12);
    const [bot] = await dueBots(database, []);
    for (let taken = 0; taken < 12; taken++) expect(await claim(database, bot as never)).toBeDefined();
    expect(await endOverlongWaits(database)).toBe(0);
    expect(await dueBots(database, [])).toEqual([]);
  });

  test.each([
    ['in a day', 24],
    ['a day ago', -25],
  ])('old messages are deleted even if the first ones have times %s', async (_, hours) => {
    await database.run(sql.unsafe`DELETE FROM messaging.message`);
    await database.run(sql.unsafe`
      INSERT INTO messaging.message (realm_id, id, sender_id, recipient_ids, content, rendered_content, client, sent_at)
      SELECT ${realmId}, n, 1, '{1}', 'x', 'x', 'test', now() + CASE
        WHEN n <= 300 THEN make_interval(hours => ${hours}) WHEN n <= 302 THEN interval '-3 days' ELSE interval '0' END FROM generate_series(1, 303) n`);
    const recorded = { ...work(), expectVersions: () => undefined, emit: () => 0 };
    const retention = {
      database,
      readsOn: () => true,
      sizes: new Map(),
      policies: { get: async () => ({ settings: { message_retention_days: 2 }, version: 0 }) },
      background: (_: number, handler: (work: Work) => Promise<unknown>) => handler(recorded),
    } as unknown as Retention;
    const onError = (error: unknown): void => expect.unreachable(String(error));
    await applyRetention(retention, () => false, onError);
    const left = await database.any(sql.type(z.object({ id: z.number() }))`
      SELECT id FROM messaging.message WHERE realm_id = ${realmId} AND id > 299 ORDER BY id`);
    expect(left).toEqual([{ id: 300 }, { id: 303 }]);
  });

  test('notices are sent, and scheduled messages wait for their time', async () => {
    const insert = (kind: string) =>
      database.run(sql.unsafe`
        INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, content, due_at, client)
        VALUES (${realmId}, 1, 1, ${kind}, 'text', now() + interval '1 day', 'test')`);
    for (const kind of ['notice', 'message', 'reminder']) await insert(kind);
    await makeNoticesDue(database);
    const due = await database.any(
      row`SELECT kind = 'notice' AS is FROM messaging.scheduled_message WHERE due_at <= clock_timestamp()`,
    );
    expect(due).toEqual([{ is: true }]);
  });

  test('mails are sent, except those that another process sends now or that wait for a retry', async () => {
    const seal = createKeySeal('secret');
    const sealed = seal.seal(JSON.stringify({ to: 'ann@natter.example', subject: 'Hello', text: 'Hello' }));
    await database.run(sql.unsafe`
      INSERT INTO users.mail (realm_id, sealed, created_at, expires_at, due_at)
      SELECT ${realmId}, ${sealed}, now() + interval '1 day', now() + interval '2 days', now() + interval '1 day'
      FROM generate_series(1, 3)`);
    const queue = createMailQueue(seal, () => database);
    const taken = await queue.take(5);
    expect(taken.map(({ mail, isExpired }) => [mail?.to, isExpired])).toEqual(
      Array.from({ length: 3 }, () => ['ann@natter.example', false]),
    );
    expect(await queue.take(5)).toEqual([]);
    for (const mail of taken) await queue.putBack({ ...mail, attempts: 30 });
    expect(await queue.take(5)).toEqual([]);
  });

  test.each(['append', 'append_many'])('later events have the current time, by log.%s', async (name) => {
    const realm = name === 'append' ? 50 : 51;
    await database.any(sql.unsafe`SELECT log.create_realm(${realm})`);
    const one = sql.type(z.object({ at: z.number() }));
    const append = () =>
      name === 'append'
        ? database.one(one`
            SELECT (log.append(${realm}, '{}', '{}', 'test', '[{"type":"tick"}]') ->> 'at')::float8 AS at`)
        : database.one(one`
            SELECT (log.append_many('test', json_build_array(json_build_object('realm_id', ${realm}::int, 'basis', '{}'::json,
              'events', '[{"type":"tick"}]'::json))) -> 0 ->> 'at')::float8 AS at`);
    const begunAt = (await append()).at;
    const lastAt = async (seconds: number): Promise<number> => {
      const set = sql.fragment`last_at = clock_timestamp() + make_interval(secs => ${seconds})`;
      const row = await database.one(one`
        UPDATE log.clock SET ${set} WHERE realm_id = ${realm} RETURNING (extract(epoch FROM last_at) * 1000)::float8 AS at`);
      return row.at;
    };
    const ahead = await lastAt(daySeconds);
    const { at } = await append();
    expect(at).toBeGreaterThan(begunAt);
    expect(at).toBeLessThan(ahead - 1_000 * (daySeconds / 2));
    // Set back by seconds, as a correction of the clock does.
    const before = await lastAt(9);
    expect((await append()).at).toBeGreaterThanOrEqual(before);
  });
});

describe('after the clock of Redis was set back by ten minutes', () => {
  const [rightly, ahead] = [clock, clock + 600];
  const states = {
    Redis: () => createHotState({ redis: redis.redis, runId: redis.runId, now: nowMs }, database),
    'Postgres alone': () => createRecordState(database, nowMs),
  };

  test.each(Object.keys(states) as (keyof typeof states)[])(
    'a user is not active, and later posts are seen, in %s',
    async (name) => {
      const userId = name === 'Redis' ? 1 : 2;
      const state = withKnownTimes(states[name](), nowMs);
      clock = ahead;
      await state.post(realmId, userId, ahead, true);
      expect(await state.readOne(realmId, userId)).toMatchObject({ activeAt: ahead, connectedAt: ahead });
      clock = rightly;
      expect(await state.readOne(realmId, userId)).toBeUndefined();
      expect((await state.read(realmId, 0)).presences.find((one) => one.userId === userId)?.activeAt ?? 0).toBe(0);
      const { activeBefore, changed } = await state.post(realmId, userId, rightly, true);
      expect([activeBefore, changed]).toEqual([
        0,
        expect.objectContaining({ activeAt: rightly, connectedAt: rightly }),
      ]);
      expect(await state.readOne(realmId, userId)).toMatchObject({ activeAt: rightly, connectedAt: rightly });
    },
  );

  test('a post that Redis missed does not change a newer state', async () => {
    const state = withKnownTimes(states.Redis(), nowMs);
    clock = rightly;
    await state.post(realmId, 3, rightly, true);
    expect((await state.post(realmId, 3, rightly - 300, true)).changed).toBeUndefined();
    expect(await state.readOne(realmId, 3)).toMatchObject({ activeAt: rightly });
  });

  test('a future time in Postgres is not loaded or kept', async () => {
    clock = rightly;
    const other = realmId + 1;
    await database.run(sql.unsafe`
      INSERT INTO presence.presence (realm_id, user_id, active_at, connected_at, update_id)
      VALUES (${other}, 1, ${ahead}, ${ahead}, 1)`);
    const state = states.Redis();
    await state.post(other, 2, rightly, true);
    expect(await state.readOne(other, 1)).toMatchObject({ activeAt: 0, connectedAt: 0 });
    const { changed } = await state.post(other, 1, rightly, true);
    const behind = startWriteBehind(database, createLogger('test', 'silent'), nowMs);
    if (changed) behind.stored(other, changed);
    await behind.stop();
    expect(await createRecordState(database, nowMs).readOne(other, 1)).toMatchObject({
      activeAt: rightly,
      connectedAt: rightly,
    });
  });
});

test('users whom a load added before Redis was emptied are added again', async () => {
  const realm = realmId + 2;
  await database.run(sql.unsafe`
    INSERT INTO presence.presence (realm_id, user_id, active_at, connected_at, update_id)
    SELECT ${realm}, id, ${clock}, ${clock}, id FROM generate_series(1, 1500) id`);
  for (const script of ['natterPresenceMerge', 'natterPresenceLoaded']) {
    await redis.redis.flushall();
    // Redis is emptied before the second of two merges, or before the end of the load.
    const emptiedAt = script === 'natterPresenceMerge' ? 2 : 1;
    let calls = 0;
    const emptied = new Proxy(redis.redis, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (name === script && ++calls === emptiedAt) await target.flushall();
          return value.apply(target, args);
        };
      },
    });
    const state = createHotState({ redis: emptied, runId: redis.runId, now: nowMs }, database);
    const { presences } = await state.read(realm, 0);
    expect([script, presences.length, calls]).toEqual([script, 1_500, 2 * emptiedAt]);
  }
});

test('an outage of other services does not count as an attempt to call a bot, and the retry follows soon', async () => {
  const bot = { realm_id: realmId, owner_id: 1, bot_id: 6, count: 1 };
  const row = sql.fragment`messaging.webhook_delivery WHERE realm_id = ${realmId} AND bot_id = ${bot.bot_id}`;
  const stored = z.object({ attempts: z.number(), is_soon: z.boolean() });
  const bus = { call: () => Promise.reject(unavailable()) };
  const delivery = { database, bus } as unknown as WebhookDelivery;
  await database.run(sql.unsafe`
    INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at)
    VALUES (${realmId}, ${bot.bot_id}, 1, now(), now())`);
  for (let outages = 0; outages < 20; outages++) {
    const claimed = await claim(database, bot);
    const { at } = await database.one(sql.type(z.object({ at: z.string() }))`SELECT now()::text AS at`);
    await expect(deliverWebhook(delivery, claimed as never, () => false)).rejects.toThrow('not ready');
    const left = await database.any(sql.type(stored)`
      SELECT attempts, due_at BETWEEN ${at}::timestamptz + interval '1 second' AND now() + interval '10 seconds' AS is_soon
      FROM ${row}`);
    expect(left).toEqual([{ attempts: 0, is_soon: true }]);
    await database.run(sql.unsafe`UPDATE messaging.webhook_delivery SET due_at = now() WHERE bot_id = ${bot.bot_id}`);
  }
});

test('messages that were sent a week ago and failed notices are deleted', async () => {
  const realm = realmId + 1;
  await database.run(sql.unsafe`
    INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, content, due_at, client, state, sent_at)
    SELECT ${realm}, 1, 1, kind, state || days, now(), 'test', state, now() - make_interval(days => days)
    FROM (VALUES ('message', 'sent', 8), ('message', 'sent', 6), ('message', 'failed', 8), ('notice', 'failed', 0), ('notice', 'waiting', 8))
      AS one (kind, state, days)`);
  await forgetEnded(database, () => false);
  const left = await database.any(sql.type(z.object({ content: z.string() }))`
    SELECT content FROM messaging.scheduled_message WHERE realm_id = ${realm} ORDER BY content`);
  expect(left.map(({ content }) => content)).toEqual(['failed8', 'sent6', 'waiting8']);
});
