import { userOperations } from '@natter/contracts';
import { type createDatabase, sql } from '@natter/database';
import type { ServerName, System } from '@natter/local/system';
import { connectBus, createLogger, createMetrics } from '@natter/service-kit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { request } from '../api.ts';
import { type Link, proxyTo } from '../chaos/proxy.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';

let system: System;
const links: { server: ServerName; link: Link }[] = [];
beforeAll(async () => {
  system = await openSystem({
    gateways: 1,
    between: async ({ program, server, url }) => {
      const isCut = server === 'postgres' || (server === 'nats' && program === 'gateway');
      if (!isCut) return url;
      const link = await proxyTo(url);
      links.push({ server, link });
      return link.url;
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const { link } of links) link.close();
});

/** Established connections stay open and silent from now on, as after the loss of a host. New ones work. */
function silence(server: ServerName): void {
  for (const one of links) if (one.server === server) one.link.strand();
}

const ask = (route: string, form: Record<string, unknown> = {}) =>
  request(system.url, system.people.owner, route, form);
const send = (content: string) => ask('POST /messages', { type: 'channel', to: 'general', topic: 'silence', content });

describe.each(['postgres', 'nats'] as const)('when connections to %s go silent', (server) => {
  test('requests succeed without a retry by the client', async () => {
    const { id } = (await untilServed(() => send(`before ${server}`))).body;
    const all = (round: string) =>
      Promise.all([
        ...Array.from({ length: 10 }, (_, index) => send(`${server} ${round} ${index}`)),
        ask(`GET /messages/${id}`),
        ask(`PATCH /messages/${id}`, { content: `edited ${round}` }),
        ask('GET /users'),
        ask('GET /streams'),
        ask('POST /drafts', { drafts: [{ type: 'private', to: [], topic: '', content: 'draft', timestamp: 1 }] }),
        ask('POST /register', { event_types: ['message'], fetch_event_types: ['message', 'realm_user'] }),
        ask('POST /users/me/presence', { status: 'active' }),
      ]);
    // Each process has several connections, some of which are idle.
    await all('before');
    silence(server);
    const answers = await all('afterwards');
    expect(answers.map(({ status, body }) => [status, body.msg])).toEqual(answers.map(() => [200, '']));
  });
});

test('a call over a connection that went silent is answered before its deadline', async () => {
  const link = await proxyTo(system.urlsOf('operator').nats);
  const bus = await connectBus({
    url: link.url,
    name: 'operator',
    log: createLogger('test', 'fatal'),
    metrics: createMetrics('test'),
  });
  const meta = { requestId: 'test', realmId: 0, client: 'test' };
  const find = () => bus.call(userOperations.findRealm, { host: 'default' }, { meta, timeoutMs: 30_000 });
  const found = await find();
  link.strand();
  expect(await find()).toEqual(found);
  await bus.drain();
  link.close();
});

describe('a statement', () => {
  const row = z.object({ one: z.number() });
  let link: Link;
  let database: ReturnType<typeof createDatabase>;
  let admin: pg.Client;
  beforeAll(async () => {
    link = await proxyTo(system.urlsOf('event-queue').postgres ?? '');
    database = openDatabase(link.url, 3);
    admin = new pg.Client({ connectionString: system.servers.postgresUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await database.close();
    await admin.end();
    link.close();
  });
  const one = () => database.one(sql.type(row)`SELECT 1 AS one`);

  test('on a silent connection fails as if it had been reset, and idle connections are not used again', async () => {
    await Promise.all([one(), one(), one()]);
    link.strand();
    await expect(one()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: { message: expect.stringContaining('connection error') },
    });
    expect(await Promise.all([one(), one(), one()])).toEqual([{ one: 1 }, { one: 1 }, { one: 1 }]);
  });

  test('on a silent connection releases the locks of its transaction', async () => {
    const lock = 'UPDATE event_queue.alive SET at = at';
    const failed = database.connect(async ({ query }) => {
      await query('BEGIN');
      await query(lock);
      link.strand();
      await query('SELECT 1');
    });
    await expect(failed).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await admin.query("SET lock_timeout = '60s'");
    await admin.query(lock);
  });

  test('that takes long is answered', async () => {
    const slow = z.object({ slept: z.string() });
    await expect(database.one(sql.type(slow)`SELECT pg_sleep(4)::text AS slept`)).resolves.toEqual({ slept: '' });
  });

  test('that waits for a lock is answered', async () => {
    await admin.query('BEGIN; UPDATE event_queue.alive SET at = at');
    const waiting = database.run(sql.unsafe`UPDATE event_queue.alive SET at = at`);
    await admin.query('SELECT pg_sleep(4)');
    await admin.query('COMMIT');
    expect(await waiting).toBe(1);
  });
});
