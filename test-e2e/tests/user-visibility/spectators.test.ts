import { exchange, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { uploadTo } from '../upload.ts';

let realm: Realm;
let web: number;
let secret: number;
let moved: number;
let written: number;
const narrow = [{ operator: 'channels', operand: 'web-public' }];
const all = { narrow, anchor: 'newest', num_before: 100, num_after: 0 };
const messageOf = (messages: Json[], id: number): Json => messages.find((message) => message.id === id);

beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const subscribers = [realm.owner.user_id, realm.member.user_id];
  const make = async (form: Json): Promise<number> => (await realm.owner.ok('POST', '/channels/create', form)).id;
  web = await make({ name: 'Web', is_web_public: true, subscribers });
  secret = await make({ name: 'Merger-plans', invite_only: true, subscribers });
  const send = async (to: number, topic: string, content: string): Promise<number> =>
    (await realm.member.ok('POST', '/messages', { type: 'channel', to, topic, content })).id;
  moved = await send(secret, 'hidden-topic', 'the unsaid figure');
  await realm.member.ok('PATCH', `/messages/${moved}`, { content: 'the public figure' });
  await realm.member.ok('PATCH', `/messages/${moved}`, {
    topic: 'hidden-second',
    send_notification_to_new_thread: false,
  });
  await realm.owner.ok('PATCH', `/messages/${moved}`, {
    stream_id: web,
    topic: 'news',
    propagate_mode: 'change_all',
    send_notification_to_new_thread: true,
    send_notification_to_old_thread: false,
  });
  written = await send(web, 'open', 'hello web');
  await realm.owner.ok('POST', `/messages/${written}/reactions`, { emoji_name: 'octopus' });
  await realm.member.ok('PATCH', `/messages/${written}`, { content: 'hello web again' });
  await noticesSent(realm.id);
  const { messages } = await realm.owner.ok('GET', '/messages', all);
  expect(JSON.stringify(messages)).toContain('moved here');
});

test('a spectator cannot read earlier versions of a message that was moved into a web-public channel', async () => {
  for (const form of [all, { ...all, apply_markdown: false }, { message_ids: [moved, written], narrow }]) {
    const { messages } = await realm.spectator.ok('GET', '/messages', form);
    expect(messageOf(messages, moved).content).toContain('the public figure');
    expect(messageOf(messages, moved)).not.toHaveProperty('edit_history');
    expect(messageOf(messages, moved)).not.toHaveProperty('last_edit_timestamp');
    expect(messageOf(messages, moved)).not.toHaveProperty('last_moved_timestamp');
    // Changes made while the channel was web-public stay visible.
    expect(messageOf(messages, written).edit_history).toHaveLength(1);
    const text = JSON.stringify(messages);
    for (const word of ['unsaid', 'hidden-topic', 'hidden-second', 'Merger-plans']) expect(text).not.toContain(word);
  }
  // Members see the complete history.
  const { messages } = await realm.member.ok('GET', '/messages', all);
  expect(messageOf(messages, moved).edit_history).toHaveLength(3);
});

test('a narrow of a spectator asks for web-public channels and does not depend on a reader', async () => {
  const ask = (...terms: Json[]) => realm.spectator.get('/messages', { ...all, narrow: terms });
  const [open] = narrow;
  for (const terms of [
    [],
    [['channel', web]],
    [{ ...open, negated: true }],
    [open, ['is', 'dm']],
    [open, ['is', 'starred']],
    [open, ['dm', [realm.member.user_id]]],
    [open, ['in', 'all']],
    [open, { operator: 'in', operand: 'home', negated: true }],
  ]) {
    const { status, body } = await ask(...terms);
    expect([terms, status, body.code]).toEqual([terms, 401, 'UNAUTHORIZED']);
  }
  for (const terms of [
    [open, ['in', 'home']],
    [open, ['is', 'resolved']],
    [open, ['channel', 'Web']],
  ])
    expect([terms, (await ask(...terms)).status]).toEqual([terms, 200]);
  const { messages } = (await ask(open as Json, ['in', 'home'])).body;
  expect(messageOf(messages, written).flags).toEqual(['read']);
});

test('a spectator reads one message of a web-public channel, in its present form', async () => {
  const { message, raw_content } = await realm.spectator.ok('GET', `/messages/${moved}`);
  expect([raw_content, message.id, message.flags]).toEqual(['the public figure', moved, ['read']]);
  expect(message).not.toHaveProperty('edit_history');
  const text = JSON.stringify((await realm.spectator.ok('GET', `/messages/${written}`)).message);
  expect(text).not.toContain(realm.member.email);
  const hidden = await realm.member.ok('POST', '/messages', { type: 'channel', to: secret, topic: 'x', content: 'x' });
  const answers = [hidden.id, 2 ** 40].map((id) => realm.spectator.get(`/messages/${id}`));
  const [known, missing] = await Promise.all(answers);
  expect([known?.status, known?.body]).toEqual([401, missing?.body]);
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: false });
  const closed = await realm.spectator.get(`/messages/${written}`);
  expect([closed.status, closed.body]).toEqual([401, missing?.body]);
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
});

test('a spectator cannot find a moved message by its old channel, topic or words', async () => {
  const ask = (terms: Json[]) => realm.spectator.get('/messages', { ...all, narrow: [...narrow, ...terms] });
  for (const operand of ['hidden-topic', 'hidden-second'])
    expect((await ask([{ operator: 'topic', operand }])).body.messages).toEqual([]);
  expect((await ask([{ operator: 'search', operand: 'unsaid' }])).body.messages).toEqual([]);
  for (const operand of ['Merger-plans', secret]) {
    const [known, unknown] = await Promise.all([
      ask([{ operator: 'channel', operand }]),
      ask([{ operator: 'channel', operand: typeof operand === 'string' ? 'Nowhere' : 2 ** 30 }]),
    ]);
    expect([known.status, known.body.code]).toEqual([unknown.status, unknown.body.code]);
    expect(known.body.code).toBe('BAD_NARROW');
  }
  const topics = await realm.spectator.ok('GET', `/users/me/${web}/topics`);
  expect(topics.topics.map((topic: Json) => topic.name).sort()).toEqual(['channel events', 'news', 'open']);
});

test('a spectator does not see real addresses in messages, reactions and users, or by searching for one', async () => {
  const emails = [realm.owner, realm.administrator, realm.moderator, realm.member, realm.member2, realm.guest].map(
    (person) => person.email,
  );
  const answers = await Promise.all([
    realm.spectator.ok('GET', '/messages', all),
    realm.spectator.ok('GET', '/messages', { ...all, apply_markdown: false, client_gravatar: true }),
    realm.spectator.ok('GET', '/users'),
    realm.spectator.ok('GET', '/users', { client_gravatar: true, include_custom_profile_fields: true }),
    realm.spectator.ok('POST', '/register', {}),
  ]);
  for (const answer of answers)
    for (const email of emails) expect(JSON.stringify(answer).toLowerCase()).not.toContain(email.toLowerCase());
  const { messages } = answers[0] as Json;
  const message = messageOf(messages, written);
  expect(message.sender_email).toBe(`user${realm.member.user_id}@${realm.host}`);
  expect(message.reactions[0].user.email).toBe(`user${realm.owner.user_id}@${realm.host}`);
  for (const shown of messages) expect(String(shown.avatar_url)).not.toMatch(/[0-9a-f]{32}|gravatar/i);
  const bySender = (operand: string | number) =>
    realm.spectator.get('/messages', { ...all, narrow: [...narrow, { operator: 'sender', operand }] });
  expect((await bySender(realm.member.email)).body.code).toBe('BAD_NARROW');
  expect((await bySender('nobody@natter.example')).body.code).toBe('BAD_NARROW');
  expect((await bySender(message.sender_email)).body.messages.length).toBeGreaterThan(0);
  expect((await bySender(realm.member.user_id)).body.messages.length).toBeGreaterThan(0);
});

test('requests that only members may send are rejected for a spectator', async () => {
  for (const path of [
    `/messages/${moved}/history`,
    `/messages/${moved}/read_receipts`,
    `/messages/${moved}/reactions`,
    `/users/${realm.member.user_id}`,
    `/users/${realm.member.email}`,
    '/users/me',
    '/invites',
    '/realm/linkifiers',
    '/realm/domains',
    '/attachments',
    `/streams/${secret}`,
    `/users/me/${secret}/topics`,
    '/events',
  ]) {
    const { status } = await realm.spectator.get(path);
    expect([path, status >= 400 && status < 500]).toEqual([path, true]);
  }
});

test('pages set headers against framing and referrers', async () => {
  const { invite_link } = await realm.owner.ok('POST', '/invites/multiuse', {});
  for (const path of [new URL(invite_link).pathname, '/accounts/password/reset', '/accounts/password/reset/none']) {
    const { headers } = await realm.spectator.get(`/${path}`);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("base-uri 'none'");
    expect([headers['referrer-policy'], headers['x-content-type-options']]).toEqual(['no-referrer', 'nosniff']);
  }
});

test('a spectator can no longer read a web-public channel that was archived', async () => {
  const { owner, spectator, member } = realm;
  const made = { name: 'Former', is_web_public: true, subscribers: [owner.user_id] };
  const { id: channel } = await owner.ok('POST', '/channels/create', made);
  const { url } = (await uploadTo(owner, '/user_uploads')).body;
  const content = `[picture](${url})`;
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'old', content });
  const register = () =>
    spectator.ok('POST', '/register', {
      client_capabilities: { archived_channels: true },
      fetch_event_types: ['stream'],
    });
  const seen = async () => ({
    listed: (await register()).streams.some((one: Json) => one.stream_id === channel),
    message: (await spectator.get(`/messages/${id}`)).status,
    messages: (await spectator.ok('GET', '/messages', all)).messages.some((one: Json) => one.id === id),
    byId: (await spectator.ok('GET', '/messages', { message_ids: [id], narrow })).messages.length,
    narrowed: (await spectator.get('/messages', { ...all, narrow: [...narrow, ['channel', channel]] })).status,
    beside: (await spectator.get('/messages', { ...all, narrow: [...narrow, ['with', id]] })).status,
    topics: (await spectator.get(`/users/me/${channel}/topics`)).status,
    file: (await untilServed(() => exchange(`${spectator.url}${url}`, 'GET', '', { host: realm.host }))).status,
  });
  const open = {
    listed: true,
    message: 200,
    messages: true,
    byId: 1,
    narrowed: 200,
    beside: 200,
    topics: 200,
    file: 200,
  };
  expect(await seen()).toEqual(open);
  await owner.ok('DELETE', `/streams/${channel}`);
  expect(await seen()).toEqual({
    listed: false,
    message: 401,
    messages: false,
    byId: 0,
    narrowed: 400,
    beside: 400,
    topics: 400,
    file: 404,
  });
  expect((await member.get(`/messages/${id}`)).status).toBe(200);
});
