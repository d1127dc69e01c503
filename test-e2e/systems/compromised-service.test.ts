/**
 * The abilities of an attacker with the credentials of one service: each test connects with those of the running
 * system.
 */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { System } from '@natter/local/system';
import type { NatsUser } from '@natter/service-kit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let admin: pg.Client;
const closers: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  system = await openSystem();
  admin = await postgresAs(system.servers.postgresUrl);
});
afterAll(async () => {
  for (const close of closers) await close().catch(() => undefined);
  await system?.stop();
});

async function postgresAs(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  closers.push(() => client.end());
  return client;
}
const postgresOf = (user: NatsUser): Promise<pg.Client> => postgresAs(system.urlsOf(user).postgres ?? '');
async function natsOf(user: NatsUser): Promise<NatsConnection> {
  const { host, username, password } = new URL(system.urlsOf(user).nats);
  const connection = await connect({ servers: host, user: username, pass: password, inboxPrefix: `_INBOX.${user}` });
  closers.push(() => connection.close());
  return connection;
}
async function redisOf(user: NatsUser): Promise<Redis> {
  const redis = new Redis(system.urlsOf(user).redis, { maxRetriesPerRequest: 0 });
  closers.push(async () => redis.disconnect());
  return redis;
}

const send = async (content: string): Promise<number> => {
  const form = { type: 'channel', to: 'general', topic: 'trust', content };
  const { status, body } = await request(system.url, system.people.owner, 'POST /messages', form);
  expect(status).toBe(200);
  return body.id as number;
};
const register = async (): Promise<Answer> =>
  (await request(system.url, system.people.member, 'POST /register', { apply_markdown: true })).body;
/** The events that a member receives until the message with this id. */
async function toldUntil(queue: Answer, id: number): Promise<Answer[]> {
  const events: Answer[] = [];
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    const last = events.at(-1)?.id ?? -1;
    const { body } = await request(system.url, system.people.member, 'GET /events', {
      queue_id: queue.queue_id,
      last_event_id: last,
    });
    events.push(...(body.events ?? []));
    if (events.some((event) => event.type === 'message' && event.message.id === id)) return events;
  }
  throw new Error(`message ${id} did not come`);
}
const contents = (events: Answer[]): string[] =>
  events.filter(({ type }) => type === 'message').map(({ message }) => message.content as string);

/** The last durable entry of the realm, and a forged message after it. */
async function forgedNext(): Promise<{ number: number; mark: number; data: Record<string, unknown> }> {
  const { rows } = await admin.query('SELECT number, mark FROM log.clock WHERE realm_id = 1');
  const last = await admin.query(
    "SELECT event FROM log.event WHERE realm_id = 1 AND type = 'message' ORDER BY number DESC LIMIT 1",
  );
  const event = last.rows[0].event;
  const message = { ...event.body.message, content: '<p>forged</p>', sender_id: system.people.owner.user_id };
  const data = { previousMark: rows[0].mark, at: Date.now(), event: { ...event, body: { ...event.body, message } } };
  return { number: Number(rows[0].number) + 1, mark: 4_711, data };
}

test('a hint from a service other than its owner is not delivered, and genuine hints still are', async () => {
  await send('before');
  const queue = await register();
  const { number, mark, data } = await forgedNext();
  for (const user of ['presence', 'users', 'channels', 'event-queue'] as const) {
    const nats = await natsOf(user);
    const entries = [{ number, n: 0, mark, ...data }];
    const ephemeral = [{ number: number - 1, n: 1, mark: 0, ...data }];
    for (const hint of [
      JSON.stringify({ entries }),
      JSON.stringify({ entries: ephemeral }),
      `{"signature":"messaging:AAAA",${JSON.stringify({ entries }).slice(1)}`,
      `{"signature":"${user}:",${JSON.stringify({ entries }).slice(1)}`,
      'not JSON',
      '[]',
      'null',
      '{"entries":1}',
      '{"entries":[null]}',
    ])
      nats.publish('natter.log.1', hint);
    await nats.flush();
  }
  const id = await send('genuine');
  expect(id).toBe(number);
  expect(contents(await toldUntil(queue, id))).toEqual(['<p>genuine</p>']);
});

test('a service can sign events of its own types only', async () => {
  const { createHmac } = await import('node:crypto');
  await send('before');
  const queue = await register();
  const { number, mark, data } = await forgedNext();
  const [nats, postgres] = [await natsOf('presence'), await postgresOf('presence')];
  const { rows } = await postgres.query('SELECT source, key FROM log.own_key()');
  expect(rows.map(({ source }) => source)).toEqual(['presence']);
  const publish = (entry: object): void => {
    const rest = JSON.stringify({ entries: [entry] }).slice(1);
    const signature = createHmac('sha256', rows[0].key).update(`hint 1 ${rest}`).digest('base64url');
    nats.publish('natter.log.1', `{"signature":"presence:${signature}",${rest}`);
  };
  publish({ number, n: 0, mark, ...data });
  // Its own event type with foreign content: neither body nor form can turn it into a message.
  const { event } = data as { event: { body: object } };
  const body = { type: 'message', ...event.body, flags: [] };
  const presence = (more: object) => ({ type: 'presence', body: {}, audience: 'realm', ...more });
  const of = (n: number, more: object) => ({
    number: number - 1,
    n,
    mark: 0,
    previousMark: 0,
    at: Date.now(),
    event: presence(more),
  });
  publish(of(1, { body }));
  publish(of(2, { forms: [{ capability: 'no such', is: false, patch: body }] }));
  publish(of(3, { variants: [{ audience: 'realm', patch: body }] }));
  await nats.flush();
  const id = await send('genuine');
  const told = await toldUntil(queue, id);
  expect(contents(told)).toEqual(['<p>genuine</p>']);
  // These were signed like the service's own events, so they are delivered, with their own type.
  expect(told.filter(({ type }) => type === 'presence').length).toBe(3);
});

test('an entry that another service wrote to the stream is not delivered, and later entries still are', async () => {
  await send('before');
  const queue = await register();
  const { number, mark, data } = await forgedNext();
  const redis = await redisOf('presence');
  const [key, meta] = ['natter:{1}:log', 'natter:{1}:log-meta'];
  await redis.xadd(key, `${number - 1}-9`, 'm', '1', 'd', JSON.stringify(data), 's', 'messaging:AAAA');
  await redis.xadd(key, `${number}-0`, 'm', mark, 'd', JSON.stringify(data));
  await redis.hset(meta, 'number', number, 'mark', mark, 'n', 0);
  // Invalid data does not stop the gateway either.
  await redis.xadd(key, `${number}-3`, 'm', '1', 'd', 'not JSON');
  const nats = await natsOf('presence');
  nats.publish('natter.log.1', JSON.stringify({ upTo: number }));
  await nats.flush();
  const fresh = await register();
  const id = await send('genuine');
  expect(contents(await toldUntil(fresh, id))).toEqual(['<p>genuine</p>']);
  expect(contents(await toldUntil(queue, id))).toEqual(['<p>genuine</p>']);
});

test('a service cannot append events, sources or versions of other services', async () => {
  const append = (client: pg.Client, source: string, type: string, bumps: string[] = []) =>
    client.query('SELECT log.append(1, $1, $2, $3, $4)', [
      '{}',
      bumps,
      source,
      JSON.stringify([{ type, body: {}, audience: { users: { ids: [] } } }]),
    ]);
  const refused = { code: '42501' };
  const presence = await postgresOf('presence');
  await append(presence, 'presence', 'tick');
  for (const type of ['message', 'realm_user', 'stream', 'no_such_type', 'update_message'])
    await expect(append(presence, 'presence', type)).rejects.toMatchObject(refused);
  await expect(append(presence, 'messaging', 'tick')).rejects.toMatchObject(refused);
  for (const key of ['actor:10', 'channel:1', 'realm', 'groups', 'group-uses'])
    await expect(append(presence, 'presence', 'tick', [key])).rejects.toMatchObject(refused);
  const messaging = await postgresOf('messaging');
  await expect(append(messaging, 'messaging', 'realm_user')).rejects.toMatchObject(refused);
  await expect(append(messaging, 'messaging', 'tick', ['actor:10'])).rejects.toMatchObject(refused);
  const channels = await postgresOf('channels');
  await expect(append(channels, 'channels', 'message')).rejects.toMatchObject(refused);
  await expect(append(channels, 'channels', 'tick', ['realm'])).rejects.toMatchObject(refused);
});

test('a service cannot read foreign messages of the record, or foreign keys, tables and server settings', async () => {
  const statements = [
    'SELECT * FROM log.read(1, 0, 10)',
    "SELECT * FROM log.read_types(1, 0, 1000000, ARRAY['message'], 10)",
    "SELECT * FROM log.read_types(1, 0, 1000000, ARRAY['realm_user', 'message'], 10)",
    "SELECT * FROM log.read_types(1, 0, 1000000, ARRAY[NULL, 'message'], 10)",
    "SELECT * FROM log.read_some_types(1, 0, 1000000, ARRAY['message'], 10, 1000)",
    "SELECT * FROM log.read_some_types(1, 0, 1000000, ARRAY[NULL, 'message'], 10, 1000)",
    'SELECT * FROM log.event',
    'SELECT * FROM log.writer',
    'SELECT * FROM log.keys()',
    'UPDATE log.clock SET number = 0',
    'SELECT log.new_epoch(1, 1, 1)',
    'SELECT log.create_realm(99)',
    "SELECT log.drop_partition('event_20200101')",
    'SELECT * FROM users.api_key',
    'SELECT * FROM messaging.message',
    'SELECT * FROM event_queue.queue',
    'SELECT * FROM public.migration',
    'SELECT * FROM pg_authid',
    "SELECT pg_read_file('/etc/passwd')",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/natter-forged'",
    'CREATE EXTENSION dblink',
    'CREATE TABLE public.t (i int)',
    'CREATE TEMPORARY TABLE consumer (name text, realm_id int, position bigint)',
    'CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'CREATE SCHEMA mine',
    'CREATE ROLE mine SUPERUSER',
    'SET ROLE natter_users',
    'SET ROLE natter_log',
    'SET SESSION AUTHORIZATION natter_users',
    'ALTER ROLE natter_presence SUPERUSER',
  ];
  const presence = await postgresOf('presence');
  for (const statement of statements)
    await expect(presence.query(statement), statement).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|0LP01)$/),
    });
  const keys = await Promise.all(
    (['users', 'channels', 'messaging', 'presence', 'event-queue'] as const).map(async (user) =>
      (await (await postgresOf(user)).query('SELECT key FROM log.own_key()')).rows[0].key.toString('hex'),
    ),
  );
  expect(new Set(keys).size).toBe(5);
});

test('rules on the table of events do not give its owner more rights', async () => {
  const queue = await postgresOf('event-queue');
  const attack = "query_to_xml('UPDATE users.account SET role = 100 WHERE realm_id = 1', true, true, '')";
  await queue.query(`CREATE RULE forged AS ON INSERT TO log.event DO ALSO SELECT ${attack}`);
  const { rows } = await admin.query('SELECT role FROM users.account ORDER BY id');
  const messaging = await postgresOf('messaging');
  await messaging
    .query('SELECT log.append(1, $1, $2, $3, $4)', [
      '{}',
      [],
      'messaging',
      JSON.stringify([{ type: 'tick', body: {}, audience: { users: { ids: [] } } }]),
    ])
    .catch(() => undefined);
  await queue.query('DROP RULE forged ON log.event');
  expect((await admin.query('SELECT role FROM users.account ORDER BY id')).rows).toEqual(rows);
});

/** A busy machine pauses for longer than the default of a second. */
const patient = { timeout: 120_000 };

test('a service rejects requests that are meant for other callers, even from the gateway', async () => {
  const gateway = await natsOf('gateway');
  const meta = { requestId: 'x', realmId: 1, client: 'x', realmUrl: '' };
  for (const name of ['issue-api-key', 'refresh-actor', 'queue-defaults']) {
    const params = { email: system.people.owner.email, user_id: system.people.owner.user_id, key_id: '1' };
    const answer = await gateway.request(`natter.users.${name}.gateway`, JSON.stringify({ meta, params }), patient);
    expect(answer.headers?.get('Natter-Error'), name).toBe('INTERNAL_ERROR');
    expect(answer.string()).not.toContain('api_key');
  }
});

test('a service rejects a request without the required actor, or with an actor that the contract excludes', async () => {
  const gateway = await natsOf('gateway');
  const meta = { requestId: 'x', realmId: 1, client: 'x', realmUrl: '' };
  const ask = async (name: string, actor?: object, service = 'users'): Promise<[string | undefined, Answer]> => {
    const request = JSON.stringify({ meta, actor, params: {} });
    const answer = await gateway.request(`natter.${service}.${name}.gateway`, request, patient);
    return [answer.headers?.get('Natter-Error') || undefined, answer.json()];
  };
  for (const name of ['get-own-user', 'deactivate-realm', 'get-alert-words'])
    expect(await ask(name), name).toEqual(['INTERNAL_ERROR', expect.anything()]);
  const { user_id: userId, email } = system.people.member;
  const { rows } = await admin.query("SELECT encode(hash, 'hex') AS hash FROM users.api_key WHERE user_id = $1", [
    userId,
  ]);
  const member = { realmId: 1, userId, email, role: 400, isBot: false, keyId: rows[0].hash, groupIds: [], basis: {} };
  expect(await ask('get-alert-words', member)).toEqual([undefined, { alert_words: [] }]);
  expect(await ask('get-alert-words', { ...member, isBot: true, isWriteOnly: true })).toEqual([
    'BAD_REQUEST',
    expect.objectContaining({ message: 'This API is not available to incoming webhook bots.' }),
  ]);
  expect(await ask('deactivate-realm', member)).toEqual([
    'BAD_REQUEST',
    expect.objectContaining({ message: 'Must be an organization owner' }),
  ]);
  expect(await ask('get-drafts', { ...member, isBot: true }, 'messaging')).toEqual([
    'BAD_REQUEST',
    expect.objectContaining({ message: 'This endpoint does not accept bot requests.' }),
  ]);
});

test('a gateway cannot use operations on credentials, roles or addresses without the credential of the user', async () => {
  const { operations } = await import('@natter/contracts');
  const checked = operations.filter(({ checksCredential }) => checksCredential);
  const names = checked.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      ...['regenerate-api-key', 'revoke-api-key', 'logout', 'update-settings', 'deactivate-self', 'deactivate-realm'],
      ...['create-user', 'update-user', 'deactivate-user', 'reactivate-user', 'send-invites', 'create-invite-link'],
      ...[
        'create-bot',
        'update-bot',
        'deactivate-bot',
        'regenerate-bot-api-key',
        'get-bots',
        'get-bot-api-key',
        'get-invites',
      ],
      ...['update-user-group-members', 'update-subgroups', 'update-realm', 'add-realm-domain', 'reveal', 'register'],
    ]),
  );
  const hashOf = async (userId: number): Promise<string> => {
    const { rows } = await admin.query("SELECT encode(hash, 'hex') AS hash FROM users.api_key WHERE user_id = $1", [
      userId,
    ]);
    return rows[0].hash;
  };
  const { owner, member } = system.people;
  const gateway = await natsOf('gateway');
  const meta = { requestId: 'x', realmId: 1, client: 'x', realmUrl: '' };
  const ask = async ({ service, name }: { service: string; name: string }, more: object) => {
    const { user_id: userId, email } = owner;
    const actor = { realmId: 1, userId, email, role: 100, isBot: false, groupIds: [], basis: {}, ...more };
    const answer = await gateway.request(
      `natter.${service}.${name}.gateway`,
      JSON.stringify({ meta, actor, params: {} }),
      patient,
    );
    return [answer.headers?.get('Natter-Error') || undefined, answer.string()];
  };
  const forged = [
    {},
    { keyId: null },
    { keyId: '' },
    { keyId: 'f'.repeat(64) },
    { keyId: await hashOf(member.user_id) },
  ];
  const state = async () =>
    (
      await admin.query(`SELECT (SELECT json_agg(k ORDER BY k.id) FROM users.api_key k)::text AS keys,
        (SELECT json_agg(a ORDER BY a.id) FROM users.account a)::text AS accounts`)
    ).rows;
  const before = await state();
  for (const operation of checked)
    for (const credential of forged)
      expect(await ask(operation, credential), `${operation.name} ${JSON.stringify(credential)}`).toEqual([
        'INVALID_API_KEY',
        expect.not.stringContaining('api_key"'),
      ]);
  expect(await state()).toEqual(before);
  const [error, answer] = await ask({ service: 'users', name: 'get-bots' }, { keyId: await hashOf(owner.user_id) });
  expect([error, answer]).toEqual([undefined, expect.stringContaining('"bots":')]);
});

test('the rights of each service in the record are those of the contract', async () => {
  const { appenders, eventTypesOf, eventTypesReadBy, schemaOf, versionKeysOf } = await import('@natter/contracts');
  const { rows } = await admin.query('SELECT source, appends, reads, bumps FROM log.writer ORDER BY source');
  expect(
    rows.map((row) => ({ ...row, appends: row.appends.sort(), reads: row.reads.sort(), bumps: row.bumps.sort() })),
  ).toEqual(
    appenders
      .map((service) => ({
        source: schemaOf(service),
        appends: eventTypesOf(service).sort(),
        reads: eventTypesReadBy(service).sort(),
        bumps: [...versionKeysOf[service]].sort(),
      }))
      .sort((a, b) => (a.source < b.source ? -1 : 1)),
  );
});

test('the log, Redis and events for others do not contain keys or tokens of a bot, and its owner receives them', async () => {
  const { owner, member } = system.people;
  const { body: made } = await request(system.url, member, 'POST /register', { event_types: ['realm_bot'] });
  const { body: others } = await request(system.url, owner, 'POST /register', { event_types: ['realm_bot'] });
  const form = { full_name: 'Teller', short_name: 'teller', bot_type: 3, payload_url: 'https://hook.example/x' };
  const created = await request(system.url, member, 'POST /bots', form);
  expect(created.status).toBe(200);
  const { user_id, api_key } = created.body as { user_id: number; api_key: string };
  const renewed = await request(system.url, member, `POST /bots/${user_id}/api_key/regenerate`);
  const newKey = renewed.body.api_key as string;
  const bots = (await request(system.url, member, 'POST /register', { event_types: ['realm_bot'] })).body.realm_bots;
  const { token } = bots.find((bot: Answer) => bot.user_id === user_id).services[0];
  expect(token.length).toBeGreaterThan(20);

  const { rows } = await admin.query('SELECT event::text FROM log.event');
  const stream = await (await redisOf('gateway')).xrange('natter:{1}:log', '-', '+');
  const everything = rows.map(({ event }) => event).join('\n') + JSON.stringify(stream);
  expect(everything).toContain(`"user_id":${user_id}`);
  for (const secret of [api_key, newKey, token]) expect(everything).not.toContain(secret);

  const told = async (queue: Answer, person: typeof owner): Promise<Answer[]> => {
    const events: Answer[] = [];
    const isDone = () => events.some(({ bot }) => 'api_key' in bot) && events.some(({ op }) => op === 'add');
    for (const end = Date.now() + 120_000; Date.now() < end && !isDone(); ) {
      const last = { queue_id: queue.queue_id, last_event_id: events.at(-1)?.id ?? -1, dont_block: true };
      events.push(...((await request(system.url, person, 'GET /events', last)).body.events ?? []));
    }
    return events;
  };
  const own = await told(made, member);
  const [added] = own.filter(({ op }) => op === 'add');
  expect(added?.bot).toMatchObject({ user_id, api_key: newKey, services: [{ token }] });
  const [seen] = (await told(others, owner)).filter(({ op }) => op === 'add');
  expect(seen?.bot).toMatchObject({ user_id, api_key: '' });
});
