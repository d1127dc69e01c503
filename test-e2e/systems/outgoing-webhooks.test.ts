import type { ServerResponse } from 'node:http';
import { type Database, sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Answer, Credentials } from '../api.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';
import { type Asked, type Endpoint, openEndpoint, type Respond } from '../webhook-endpoint.ts';

/** A server at an address that the operator permits, and one at an internal address. */
let endpoint: Endpoint;
let internal: Endpoint;
let system: System;
let database: Database;

beforeAll(async () => {
  [endpoint, internal] = await Promise.all([openEndpoint('127.0.0.2'), openEndpoint('127.0.0.1')]);
  system = await openSystem({
    env: { NATTER_OUTGOING_WEBHOOK_NETWORKS: '127.0.0.2/32' },
    ...(process.env.LINES ? { onLine: (line: string) => console.log(line) } : {}),
  });
  database = openDatabase(system.servers.postgresUrl, 1);
});
afterAll(async () => {
  await database?.close();
  await system?.stop();
  endpoint?.close();
  internal?.close();
});

async function ok(who: Credentials, route: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await requestOnce(system.url, who, route, form);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

interface Bot extends Credentials {
  user_id: number;
  name: string;
  requests: () => readonly Asked[];
}
let count = 0;

/** A bot, of the member by default, whose address gives this response. */
async function made(response: unknown, { at = endpoint, slack = false, by = system.people.member } = {}): Promise<Bot> {
  const number = ++count;
  const [name, path] = [`Hook ${number}`, `/hook/${number}`];
  const respond: Respond = (to) => to.end(JSON.stringify(response));
  at.respond(path, typeof response === 'function' ? (response as Respond) : respond);
  const { user_id, api_key } = await ok(by, 'POST /bots', {
    full_name: name,
    short_name: `hook${number}`,
    bot_type: 3,
    payload_url: at.addressOf(path),
    interface_type: slack ? 2 : 1,
  });
  const { user } = await ok(system.people.member, `GET /users/${user_id}`);
  return { user_id, api_key, email: user.email, name, requests: () => at.requestsFor(path) };
}

async function channelOf(who: Credentials, { isPrivate = false, with: others = [] as number[] } = {}) {
  const name = `channel ${++count}`;
  await ok(who, 'POST /users/me/subscriptions', {
    subscriptions: [{ name }],
    invite_only: isPrivate,
    ...(others.length > 0 ? { principals: others } : {}),
  });
  return name;
}

const toChannel = async (who: Credentials, to: string, content: string): Promise<number> =>
  (await ok(who, 'POST /messages', { type: 'channel', to, topic: 'robots', content })).id;
const toPeople = async (who: Credentials, to: number[], content: string): Promise<number> =>
  (await ok(who, 'POST /messages', { type: 'direct', to, content })).id;

const bodiesFor = (bot: Bot): Answer[] => bot.requests().map(({ body }) => JSON.parse(body) as Answer);

const countRow = z.object({ count: z.number() });
const waitingOf = async (which = sql.fragment`true`): Promise<number> =>
  (await database.one(sql.type(countRow)`SELECT count(*)::int FROM messaging.webhook_delivery WHERE ${which}`)).count;

/** Waits until no message waits to be posted. */
const settled = (): Promise<void> => expect.poll(() => waitingOf(), { interval: 100 }).toBe(0);

/** The messages of a bot that the user can read, oldest first, after all posts to bots have ended. */
async function repliesOf({ email }: Bot, reader: Credentials): Promise<Answer[]> {
  await settled();
  const page = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false };
  return (await ok(reader, 'GET /messages', { ...page, narrow: [{ operator: 'sender', operand: email }] })).messages;
}
const contentsOf = async (bot: Bot, reader: Credentials): Promise<string[]> =>
  (await repliesOf(bot, reader)).map(({ content }) => content);

/** Direct messages of the notification bot to the member about this bot. */
async function noticesAbout({ name }: Bot): Promise<string[]> {
  const page = { anchor: 'newest', num_before: 1_000, num_after: 0, apply_markdown: false };
  const { messages } = await ok(system.people.member, 'GET /messages', { ...page, narrow: [['is', 'dm']] });
  return messages
    .filter(
      (message: Answer) => message.sender_full_name === 'Notification Bot' && message.content.includes(`**${name}|`),
    )
    .map(({ content }: Answer) => content);
}

test('a message that mentions the bot is posted to its address, and the response is its reply', async () => {
  const { member, owner } = system.people;
  const bot = await made({ content: 'At your *service*.' });
  const channel = await channelOf(owner);
  const content = `@**${bot.name}** what is the time?`;
  const id = await toChannel(owner, channel, content);
  const replies = await repliesOf(bot, owner);
  const { realm_bots } = await ok(member, 'POST /register', { fetch_event_types: ['realm_bot'], event_types: [] });
  const [service] = realm_bots.find((one: Answer) => one.user_id === bot.user_id).services;
  expect(service.token.length).toBeGreaterThan(20);
  const { stream_id } = await ok(owner, 'GET /get_stream_id', { stream: channel });
  expect(bodiesFor(bot)).toEqual([
    {
      bot_email: bot.email,
      bot_full_name: bot.name,
      data: content,
      token: service.token,
      trigger: 'mention',
      message: expect.objectContaining({
        id,
        content,
        content_type: 'text/x-markdown',
        rendered_content: `<p><span class="user-mention" data-user-id="${bot.user_id}">@${bot.name}</span> what is the time?</p>`,
        display_recipient: channel,
        stream_id,
        subject: 'robots',
        sender_id: owner.user_id,
        sender_full_name: expect.any(String),
        sender_email: owner.email,
        timestamp: expect.any(Number),
        type: 'stream',
      }),
    },
  ]);
  expect(bot.requests()[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Natter' });
  expect(replies.map((reply) => [reply.content, reply.stream_id, reply.subject])).toEqual([
    ['At your *service*.', stream_id, 'robots'],
  ]);
});

test('a direct message to the bot is posted, and the reply goes to all participants', async () => {
  const { member, owner, guest } = system.people;
  const bot = await made({ response_string: 'yes' });
  await toPeople(member, [bot.user_id], 'alone?');
  await toPeople(owner, [bot.user_id, member.user_id], 'together?');
  expect((await repliesOf(bot, member)).map((reply) => reply.display_recipient.length).sort()).toEqual([2, 3]);
  expect(await contentsOf(bot, owner)).toEqual(['yes']);
  expect(
    bodiesFor(bot)
      .map(({ trigger, data }) => `${trigger} ${data}`)
      .sort(),
  ).toEqual(['direct_message alone?', 'direct_message together?']);
  expect(await contentsOf(bot, guest)).toEqual([]);
});

test('a direct message to a bot that was just created is posted', async () => {
  for (let round = 0; round < 10; round++) {
    const bot = await made('');
    await toPeople(system.people.member, [bot.user_id], 'hello');
    await settled();
    expect(bot.requests().length).toBe(1);
  }
});

test.each([[{ response_not_required: true, content: 'unwanted' }], [''], [{}], [{ content: ' ' }]])(
  'the response %j does not post a reply',
  async (response) => {
    const { member } = system.people;
    const bot = await made(response);
    await toPeople(member, [bot.user_id], 'hello');
    expect(await contentsOf(bot, member)).toEqual([]);
    expect(bot.requests().length).toBe(1);
    expect(await noticesAbout(bot)).toEqual([]);
  },
);

test('a response with a form of choices posts the form', async () => {
  const { member } = system.people;
  const choices = [{ type: 'multiple_choice', short_name: 'A', long_name: 'One', reply: 'answer A' }];
  const extra_data = { type: 'choices', heading: 'Which?', choices };
  const bot = await made({ content: 'Which?', widget_content: { widget_type: 'zform', extra_data } });
  await toPeople(member, [bot.user_id], 'quiz');
  const [reply] = await repliesOf(bot, member);
  expect(JSON.parse(reply?.submessages[0].content)).toEqual({ widget_type: 'zform', extra_data });
});

test('the Slack format is a form, its text is the reply, and direct messages are refused', async () => {
  const { owner } = system.people;
  const bot = await made({ text: 'from Slack' }, { slack: true });
  const channel = await channelOf(owner);
  const content = `@**${bot.name}** & others`;
  const id = await toChannel(owner, channel, content);
  expect(await contentsOf(bot, owner)).toEqual(['from Slack']);
  const { stream_id } = await ok(owner, 'GET /get_stream_id', { stream: channel });
  const { message } = await ok(owner, `GET /messages/${id}`);
  const [first] = bot.requests();
  expect(first?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(Object.fromEntries(new URLSearchParams(first?.body))).toEqual({
    token: expect.stringMatching(/^.{20,}$/),
    team_id: expect.stringMatching(/^T\d+$/),
    team_domain: 'localhost',
    channel_id: `C${stream_id}`,
    channel_name: channel,
    thread_ts: String(message.timestamp),
    timestamp: String(message.timestamp),
    user_id: `U${owner.user_id}`,
    user_name: message.sender_full_name,
    text: content,
    trigger_word: 'mention',
    service_id: String(bot.user_id),
  });
  await toPeople(owner, [bot.user_id], 'psst');
  expect(await contentsOf(bot, owner)).toEqual([
    'from Slack',
    "Failure! Slack outgoing webhooks don't support direct messages.",
  ]);
  expect(bot.requests().length).toBe(1);
});

test('a failing endpoint is retried, and its later response is the only reply', async () => {
  const { member } = system.people;
  const bot = await made(((to, attempt) => {
    if (attempt === 1) to.writeHead(503).end();
    else if (attempt === 2) to.destroy();
    else to.end(JSON.stringify({ content: 'at last' }));
  }) satisfies Respond);
  await toPeople(member, [bot.user_id], 'hello');
  expect(await contentsOf(bot, member)).toEqual(['at last']);
  const bodies = bodiesFor(bot);
  expect(bodies.length).toBe(3);
  expect(new Set(bodies.map(({ message }) => message.id)).size).toBe(1);
  expect(await noticesAbout(bot)).toEqual([]);
});

test('an endpoint that keeps failing gets four attempts, and its owner is notified once', async () => {
  const { member } = system.people;
  const bot = await made(((to) => to.writeHead(500).end('secret')) satisfies Respond);
  for (const content of ['one', 'two']) await toPeople(member, [bot.user_id], content);
  expect(await contentsOf(bot, member)).toEqual(Array(2).fill('Failure! Third party responded with 500'));
  expect(bot.requests().length).toBe(8);
  await expect.poll(() => noticesAbout(bot)).toHaveLength(1);
  const [notice] = await noticesAbout(bot);
  expect(notice).toContain('status code *500*');
  expect(notice).not.toContain('secret');
});

const big = JSON.stringify({ content: 'x'.repeat(101 * 1024) });
test.each<[string, Respond, string]>([
  ['404', (to) => to.writeHead(404).end(), 'Failure! Third party responded with 404'],
  [
    'a redirect',
    (to) => to.writeHead(307, { location: endpoint.addressOf('/elsewhere') }).end(),
    'Failure! Third party responded with 307',
  ],
  ['another format than JSON', (to) => to.end('<html>'), 'Failure! Invalid JSON in response'],
  ['a list', (to) => to.end('[]'), 'Failure! Invalid response format'],
  ['more than 100 KiB', (to) => to.end(big), 'Failure! Invalid response format'],
  ['an endless response', (to) => void to.writeHead(200).write(big), 'Failure! Invalid response format'],
])('%s is a failure without a retry', async (_, response, shown) => {
  const { member } = system.people;
  const bot = await made(response);
  await toPeople(member, [bot.user_id], 'hello');
  expect(await contentsOf(bot, member)).toEqual([shown]);
  expect(bot.requests().length).toBe(1);
  await expect.poll(() => noticesAbout(bot)).toHaveLength(1);
  expect(endpoint.requestsFor('/elsewhere')).toEqual([]);
});

test('messages are not posted to internal addresses that the operator does not permit', async () => {
  const { member } = system.people;
  const bot = await made({ content: 'inside' }, { at: internal });
  await toPeople(member, [bot.user_id], 'hello');
  expect(await contentsOf(bot, member)).toEqual(['Failure! Bot is unavailable']);
  expect(bot.requests()).toEqual([]);
  await expect.poll(() => noticesAbout(bot)).toHaveLength(1);
  expect((await noticesAbout(bot))[0]).toContain('an internal address');
});

test('messages of bots, silent mentions and mentions of groups or everyone do not trigger a webhook', async () => {
  const { member, owner } = system.people;
  const bot = await made({ content: 'here' });
  const channel = await channelOf(owner, { with: [bot.user_id, member.user_id, owner.user_id] });
  const { user_id, api_key } = await ok(member, 'POST /bots', {
    full_name: `Speaker ${count}`,
    short_name: `s${count}`,
  });
  const { user } = await ok(member, `GET /users/${user_id}`);
  const speaker = { email: user.email, api_key };
  await toChannel(speaker, channel, `@**${bot.name}** hello`);
  await toPeople(speaker, [bot.user_id], 'hello');
  await toPeople(bot, [bot.user_id, member.user_id], 'hello');
  await ok(owner, 'POST /user_groups/create', { name: `robots ${count}`, description: '', members: [bot.user_id] });
  for (const content of [
    '@**all** hello',
    `@_**${bot.name}** hello`,
    `@*robots ${count}* hello`,
    `\`@**${bot.name}**\``,
  ])
    await toChannel(owner, channel, content);
  const id = await toChannel(owner, channel, 'edited');
  await ok(owner, `PATCH /messages/${id}`, { content: `@**${bot.name}** edited` });
  await settled();
  expect(bot.requests()).toEqual([]);
  await toChannel(owner, channel, `@**${bot.name}** hello`);
  expect(await contentsOf(bot, owner)).toContain('here');
  expect(bot.requests().length).toBe(1);
});

test('a bot does not receive messages of a private channel unless it is subscribed', async () => {
  const { owner } = system.people;
  const bot = await made({ content: 'here' });
  const channel = await channelOf(owner, { isPrivate: true });
  await toChannel(owner, channel, `@**${bot.name}** outside`);
  await settled();
  expect(bot.requests()).toEqual([]);
  await ok(owner, 'POST /users/me/subscriptions', { subscriptions: [{ name: channel }], principals: [bot.user_id] });
  await toChannel(owner, channel, `@**${bot.name}** inside`);
  expect(await contentsOf(bot, owner)).toEqual(['here']);
  expect(bodiesFor(bot).map(({ data }) => data)).toEqual([`@**${bot.name}** inside`]);
});

test('a bot that may not write where it was mentioned does not reply, and its owner is notified', async () => {
  const { owner } = system.people;
  const bot = await made({ content: 'here' });
  const channel = await channelOf(owner);
  const { stream_id } = await ok(owner, 'GET /get_stream_id', { stream: channel });
  await ok(owner, `PATCH /streams/${stream_id}`, {
    can_send_message_group: { new: { direct_members: [owner.user_id], direct_subgroups: [] } },
  });
  await toChannel(owner, channel, `@**${bot.name}** hello`);
  expect(await contentsOf(bot, owner)).toEqual([]);
  expect(bot.requests().length).toBe(1);
  await expect.poll(() => noticesAbout(bot)).toHaveLength(1);
});

test('a deactivated bot does not receive requests, not even waiting ones', async () => {
  const { member, owner } = system.people;
  const bot = await made(((to) => to.writeHead(503).end()) satisfies Respond);
  const channel = await channelOf(owner);
  await toChannel(owner, channel, `@**${bot.name}** hello`);
  await expect.poll(() => bot.requests().length).toBeGreaterThan(0);
  await ok(member, `DELETE /bots/${bot.user_id}`);
  await toChannel(owner, channel, `@**${bot.name}** hello`);
  await settled();
  const before = bot.requests().length;
  expect(before).toBeLessThan(5);
  expect(await contentsOf(bot, owner)).toEqual([]);
});

test('messages that wait for one bot do not delay those of others', async () => {
  const { member } = system.people;
  const held: ServerResponse[] = [];
  let isOpen = false;
  const slow = await made(((to) => (isOpen ? to.end('""') : held.push(to))) satisfies Respond);
  const quick = await made({ content: 'quick' });
  for (let i = 0; i < 8; i++) await toPeople(member, [slow.user_id], `slow ${i}`);
  await expect.poll(() => held.length).toBe(4);
  await toPeople(member, [quick.user_id], 'hello');
  await expect.poll(() => quick.requests().length).toBe(1);
  isOpen = true;
  for (const to of held) to.end('""');
  expect(await contentsOf(quick, member)).toEqual(['quick']);
});

test('a scheduler that is killed between the request and the reply causes only one reply', async () => {
  const { member } = system.people;
  const bot = await made(((to, attempt) => {
    if (attempt === 1) for (const child of system.children) if (child.program === 'scheduler') child.kill('SIGKILL');
    to.end(JSON.stringify({ content: `attempt ${attempt}` }));
  }) satisfies Respond);
  await toPeople(member, [bot.user_id], 'hello');
  expect(await contentsOf(bot, member)).toEqual(['attempt 2']);
  expect(bot.requests().length).toBe(2);
});

test.each([
  { of: 'a bot', others: 0, limit: 1_000, told: '1000 messages wait for your bot' },
  { of: 'an owner', others: 10, limit: 5_000, told: 'Too many messages wait for your bots' },
])(
  'at most $limit messages wait for the bots of $of, the owner is notified, and others have room',
  async ({ others, limit, told }) => {
    const { member, owner } = system.people;
    const bot = await made({ content: 'here' });
    const other = await made({ content: 'there' }, { by: owner });
    await database.run(sql.unsafe`
    INSERT INTO messaging.standing (realm_id, user_id, role, bot_owner_id)
    SELECT realm_id, 1000000 + n, role, bot_owner_id FROM users.account, generate_series(0, 9) n WHERE id = ${bot.user_id}
    ON CONFLICT DO NOTHING`);
    await database.run(sql.unsafe`
    INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, attempts, due_at, created_at)
    SELECT b.realm_id, CASE ${others}::int WHEN 0 THEN b.id ELSE 1000000 + n % ${others || 1} END, -n, 8, now() + interval '1 hour', now()
    FROM users.account b, generate_series(1, ${limit}) n WHERE b.id = ${bot.user_id}`);
    await toPeople(member, [bot.user_id], 'too many');
    expect(await waitingOf(sql.fragment`bot_id = ${bot.user_id} OR message_id < 0`)).toBe(limit);
    await toPeople(member, [other.user_id], 'hello');
    await expect.poll(() => other.requests().length).toBe(1);
    await database.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE message_id = -1`);
    await toPeople(member, [bot.user_id], 'one more');
    await expect.poll(() => noticesAbout(bot)).toHaveLength(1);
    expect((await noticesAbout(bot))[0]).toContain(told);
    await database.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE message_id < 0`);
    expect(await contentsOf(bot, member)).toEqual(['here']);
    expect(bodiesFor(bot).map(({ data }) => data)).toEqual(['one more']);
  },
);
