import { ChatError } from '@natter/contracts';
import { currentDeadline, type Database, sql, type Work } from '@natter/database';
import type { Servers } from '@natter/local';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  deliverWebhook,
  type WebhookDelivery,
} from '../../services/messaging/src/outgoing-webhooks/deliver-webhook.ts';
import {
  claim,
  type DeliveryRow,
  drop,
  end,
  leaseSeconds,
} from '../../services/messaging/src/outgoing-webhooks/delivery-row.ts';
import { startWebhookLoop } from '../../services/messaging/src/outgoing-webhooks/webhook-loop.ts';
import { openDatabase, openServers } from '../open-servers.ts';
import { type Endpoint, openEndpoint } from '../webhook-endpoint.ts';

const [realmId, botId] = [7, 5];
const bot = { realm_id: realmId, owner_id: 1, bot_id: botId, count: 1 };

let servers: Servers;
let database: Database;
let endpoint: Endpoint;
beforeAll(async () => {
  servers = await openServers();
  database = openDatabase(servers.postgresUrl, 4);
  endpoint = await openEndpoint('127.0.0.1');
  await database.run(sql.unsafe`
    INSERT INTO messaging.message (realm_id, id, sender_id, recipient_ids, content, rendered_content, client)
    VALUES (${realmId}, 1, 1, '{1,5}', 'x', 'x', 'test')`);
});
afterEach(() => database.run(sql.unsafe`DELETE FROM messaging.webhook_delivery`));
afterAll(async () => {
  endpoint?.close();
  await database?.close();
  await servers?.stop();
});

const fails = (error: unknown): void => expect.unreachable(String(error));
const closed = () => new ChatError('REALM_DEACTIVATED', 'deactivated');
const waits = (realm: number, bots: number, messages: number) =>
  database.run(sql.unsafe`
    INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at)
    SELECT ${realm}, ${botId} + b, m, now(), now() FROM generate_series(0, ${bots}::int - 1) b, generate_series(1, ${messages}) m`);
const stored = z.object({ attempts: z.number(), failures: z.number(), is_due: z.boolean() });
const rowsOf = (realm: number) =>
  database.any(sql.type(stored)`
    SELECT attempts, failures, due_at <= now() AS is_due FROM messaging.webhook_delivery WHERE realm_id = ${realm}`);

/** A delivery to the endpoint, whose replies are decided by `decideSend`, and which notes what it stores. */
function deliveryOf(path: string, decideSend: () => Promise<never>) {
  const units: string[] = [];
  const webhook = {
    base_url: endpoint.addressOf(path),
    interface: 1,
    token: 't',
    email: 'e',
    full_name: 'Hook',
    owner_id: 1,
  };
  const delivery = {
    database,
    bus: { call: async () => ({ webhook }) },
    background: async () => void units.push('unit'),
    renderer: { topicLinks: async () => [[]] },
    authors: { get: async () => ({ realmId, userId: botId }) },
    messages: { readable: async () => undefined },
    policies: { get: async () => ({ host: 'natter.example', settings: {}, version: 0 }) },
    userVisibility: { hiddenFrom: async () => new Set([1, botId]) },
    decideSend,
    rules: { mayReach: () => true },
  } as unknown as WebhookDelivery;
  return { delivery, units };
}

test.each([
  ['a reply', 200],
  ['a failure', 404],
])('%s that arrives after the realm was deactivated is kept, and the owner is not notified', async (_, status) => {
  const path = `/closed/${status}`;
  endpoint.respond(path, (to) => to.writeHead(status).end(JSON.stringify({ content: 'late' })));
  await waits(realmId, 1, 1);
  const { delivery, units } = deliveryOf(path, () => Promise.reject(closed()));
  const row = await claim(database, bot);
  expect(await deliverWebhook(delivery, row as never, () => false)).toBe('closed');
  expect(endpoint.requestsFor(path)).toHaveLength(1);
  expect(units).toEqual([]);
  expect(await rowsOf(realmId)).toEqual([{ attempts: 0, failures: 0, is_due: false }]);
});

test('a delivery that has lost its message to another process does not end it', async () => {
  await waits(realmId, 1, 1);
  const first = (await claim(database, bot)) as never;
  await database.run(sql.unsafe`UPDATE messaging.webhook_delivery SET due_at = now()`);
  const second = (await claim(database, bot)) as never;
  expect(await end({ ...database, realmId } as unknown as Work, first)).toBe(false);
  expect(await drop(database, first)).toBe(0);
  expect(await drop(database, second)).toBe(1);
});

test('the work of a delivery ends before its lease', async () => {
  await waits(realmId, 1, 1);
  const left: (number | undefined)[] = [];
  const call = async () => {
    left.push(currentDeadline()?.remainingMs());
    return { webhook: null };
  };
  const delivery = { database, bus: { call } } as unknown as WebhookDelivery;
  const loop = startWebhookLoop(delivery, { onOutcome: () => undefined, onError: fails });
  await expect.poll(() => rowsOf(realmId)).toEqual([]);
  await loop.stop();
  expect(left).toEqual([expect.any(Number)]);
  expect(left[0]).toBeLessThan(leaseSeconds * 1_000);
});

test('a deactivated realm with many messages is tried only a few times and does not delay other realms', async () => {
  const [many, other] = [realmId, realmId + 1];
  await waits(many, 20, 100);
  await waits(other, 4, 50);
  const asked = new Map<number, number>();
  const call = async (_: unknown, __: unknown, { meta }: { meta: { realmId: number } }) => {
    asked.set(meta.realmId, (asked.get(meta.realmId) ?? 0) + 1);
    if (meta.realmId === many) throw closed();
    return { webhook: null };
  };
  const delivery = { database, bus: { call } } as unknown as WebhookDelivery;
  const loop = startWebhookLoop(delivery, { onOutcome: () => undefined, onError: fails });
  await expect.poll(() => rowsOf(other)).toEqual([]);
  await loop.stop();
  // In the deactivated realm, only the deliveries that begin at once were tried.
  expect(asked).toEqual(
    new Map([
      [many, 16],
      [other, 200],
    ]),
  );
  expect(await rowsOf(many)).toHaveLength(2_000);
});

test('a process that stops does not start a new post', async () => {
  const path = '/stopped';
  await waits(realmId, 1, 1);
  const { delivery } = deliveryOf(path, () => Promise.reject(closed()));
  const { promise, resolve } = Promise.withResolvers<void>();
  let isAsked = false;
  const messages = {
    readable: async () => {
      isAsked = true;
      await promise;
    },
  };
  const loop = startWebhookLoop(
    { ...delivery, messages: messages as never },
    { onOutcome: () => undefined, onError: fails },
  );
  await expect.poll(() => isAsked).toBe(true);
  const stopped = loop.stop();
  resolve();
  await stopped;
  expect(endpoint.requestsFor(path)).toEqual([]);
  expect(await rowsOf(realmId)).toEqual([{ attempts: 0, failures: 0, is_due: false }]);
});

describe('while a projection of this service lags', () => {
  const lagging = 900;
  const refused = () => new ChatError('BAD_REQUEST', 'refused');
  /** The log has an event of this type that the consumers have not applied yet. */
  const lag = async (type: string): Promise<void> => {
    await database.run(sql.unsafe`SELECT log.create_realm(${lagging})`);
    await database.run(sql.unsafe`SELECT log.append(${lagging}, '{}', '{}', 'test', ${JSON.stringify([{ type }])})`);
  };
  /** The consumer applies all events. */
  const apply = (name: string) =>
    database.run(sql.unsafe`
      INSERT INTO messaging.consumer (realm_id, name, position) SELECT ${lagging}, ${name}, number FROM log.position(${lagging})
      ON CONFLICT (realm_id, name) DO UPDATE SET position = excluded.position`);
  const applied = z.object({ count: z.number() });
  const isApplied = async (name: string): Promise<boolean> =>
    (
      await database.one(sql.type(applied)`
        SELECT count(*)::int FROM messaging.consumer JOIN log.position(${lagging}) p ON position = p.number
        WHERE realm_id = ${lagging} AND name = ${name}`)
    ).count > 0;
  const claimed = async () => (await claim(database, { ...bot, realm_id: lagging })) as DeliveryRow;

  test('a reply is not refused for what the projection lacks', async () => {
    const path = '/lagging/reply';
    endpoint.respond(path, (to) => to.end(JSON.stringify({ content: 'late' })));
    await database.run(sql.unsafe`
      INSERT INTO messaging.message (realm_id, id, sender_id, recipient_ids, content, rendered_content, client)
      VALUES (${lagging}, 1, 1, '{1,5}', 'x', 'x', 'test')`);
    await lag('realm_user');
    await waits(lagging, 1, 1);
    const decide = async () => {
      if (await isApplied('people')) return { expected: {}, events: [], numbered: () => [] };
      setTimeout(() => void Promise.all(['people', 'notices'].map(apply)), 500);
      throw refused();
    };
    const { delivery, units } = deliveryOf(path, decide as never);
    expect(await deliverWebhook(delivery, await claimed(), () => false)).toBe('replied');
    expect(units).toEqual(['unit']);
  });

  test.each(['subscription', 'stream'])('a late message is kept while %s events wait', async (type) => {
    await lag(type);
    await waits(lagging, 1, 1);
    await database.run(sql.unsafe`UPDATE messaging.webhook_delivery SET created_at = now() - interval '1 hour'`);
    const { delivery } = deliveryOf('/lagging/late', () => Promise.reject(refused()));
    const messages = { readable: () => Promise.reject(refused()) };
    const unreadable = { ...delivery, messages: messages as never };
    expect(await deliverWebhook(unreadable, await claimed(), () => false)).toBe('retried');
    expect(await rowsOf(lagging)).toEqual([{ attempts: 0, failures: 0, is_due: false }]);
    await apply('periods');
    await database.run(sql.unsafe`UPDATE messaging.webhook_delivery SET due_at = now()`);
    expect(await deliverWebhook(unreadable, await claimed(), () => false)).toBe('dropped');
    expect(await rowsOf(lagging)).toEqual([]);
  });
});
