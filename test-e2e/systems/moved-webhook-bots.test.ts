import type { ServerResponse } from 'node:http';
import { type Database, sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Answer, Credentials } from '../api.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';
import { type Endpoint, openEndpoint, type Respond } from '../webhook-endpoint.ts';

let endpoint: Endpoint;
let system: System;
let database: Database;

beforeAll(async () => {
  endpoint = await openEndpoint('127.0.0.2');
  system = await openSystem({ env: { NATTER_OUTGOING_WEBHOOK_NETWORKS: '127.0.0.2/32' } });
  database = openDatabase(system.servers.postgresUrl, 1);
});
afterAll(async () => {
  await database?.close();
  await system?.stop();
  endpoint?.close();
});

async function ok(who: Credentials, route: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await requestOnce(system.url, who, route, form);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

/** A bot whose messages are posted to this path. */
async function botOf(owner: Credentials, short_name: string, respond: Respond): Promise<number> {
  const path = `/${short_name}`;
  endpoint.respond(path, respond);
  const form = { full_name: short_name, short_name, bot_type: 3, payload_url: endpoint.addressOf(path) };
  return (await ok(owner, 'POST /bots', form)).user_id;
}

const writeTo = (who: Credentials, bot: number) =>
  ok(who, 'POST /messages', { type: 'direct', to: [bot], content: 'hello' });

/** Waits until no message waits to be posted. */
async function settled(): Promise<void> {
  const count = z.object({ count: z.number() });
  const waiting = sql.type(count)`SELECT count(*)::int FROM messaging.webhook_delivery`;
  await expect.poll(async () => (await database.one(waiting)).count, { interval: 100 }).toBe(0);
}

/** The texts of the direct messages between the user and a bot that the bot wrote. */
async function repliesOf(bot: number, reader: Credentials): Promise<string[]> {
  await settled();
  const page = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false };
  const { messages } = await ok(reader, 'GET /messages', { ...page, narrow: [{ operator: 'dm', operand: [bot] }] });
  return messages.filter(({ sender_id }: Answer) => sender_id === bot).map(({ content }: Answer) => content);
}

async function servicesOf(bot: number, reader: Credentials): Promise<Answer[]> {
  const { realm_bots } = await ok(reader, 'POST /register', { fetch_event_types: ['realm_bot'], event_types: [] });
  return realm_bots.find(({ user_id }: Answer) => user_id === bot).services;
}

test('a bot that an administrator brings back is not called at the address of its deactivated owner', async () => {
  const { owner } = system.people;
  const password = 'correct horse battery staple';
  const person = { email: 'former@example.com', full_name: 'Former Owner', password };
  const { user_id } = await ok(owner, 'POST /users', person);
  const { api_key } = await ok(owner, 'POST /fetch_api_key', { username: person.email, password });
  const bot = await botOf({ email: person.email, api_key }, 'returned', (to) => to.end('{"content":"of the former"}'));
  await writeTo(owner, bot);
  expect(await repliesOf(bot, owner)).toEqual(['of the former']);
  await ok(owner, `DELETE /users/${user_id}`);
  await ok(owner, `POST /users/${bot}/reactivate`);
  await writeTo(owner, bot);
  expect(await repliesOf(bot, owner)).toEqual(['of the former']);
  expect(endpoint.requestsFor('/returned')).toHaveLength(1);

  const [service] = await servicesOf(bot, owner);
  expect(service).toEqual({ base_url: '', interface: 1, token: expect.stringMatching(/^\w{32}$/) });
  endpoint.respond('/next', (to) => to.end('{"content":"of the next"}'));
  await ok(owner, `PATCH /bots/${bot}`, { service_payload_url: endpoint.addressOf('/next') });
  await writeTo(owner, bot);
  expect(await repliesOf(bot, owner)).toEqual(['of the former', 'of the next']);
  expect(endpoint.requestsFor('/next').map(({ body }) => JSON.parse(body).token)).toEqual([service?.token]);
});

test('a bot that a member gives to an owner, who raises its role, is not called at the address of the member', async () => {
  const { member, owner } = system.people;
  const held: ServerResponse[] = [];
  const bot = await botOf(member, 'planted', (to, attempt) =>
    attempt <= 2 ? held.push(to) : to.end('{"content":"@**all**"}'),
  );
  // One request is repeated after its response, and one is answered, but the bot has moved before.
  for (let count = 1; count <= 2; count++) {
    await writeTo(member, bot);
    await expect.poll(() => held.length).toBe(count);
  }
  await ok(member, `PATCH /bots/${bot}`, { bot_owner_id: owner.user_id });
  await ok(owner, `PATCH /bots/${bot}`, { role: 100 });
  held[0]?.writeHead(503).end();
  held[1]?.end('{"content":"@**all**"}');
  await writeTo(owner, bot);
  expect(await repliesOf(bot, owner)).toEqual([]);
  expect(await repliesOf(bot, member)).toEqual([]);
  expect(endpoint.requestsFor('/planted')).toHaveLength(2);
});
