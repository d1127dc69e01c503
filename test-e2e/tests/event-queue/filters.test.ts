import { type Client, exchange, type Json, openRealm, type Queue, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { onePixel } from '../../one-pixel.ts';

let realm: Realm;
let open: number;
let own: number;
beforeAll(async () => {
  realm = await openRealm();
  ({ id: open } = await realm.owner.ok('POST', '/channels/create', {
    name: 'Open',
    subscribers: [realm.owner.user_id],
  }));
  ({ id: own } = await realm.owner.ok('POST', '/channels/create', {
    name: 'Own',
    subscribers: [realm.owner.user_id, realm.member.user_id, realm.guest.user_id],
  }));
});

const send = (from: Client, to: number | number[], content: string, topic = 'plans'): Promise<Json> =>
  from.ok(
    'POST',
    '/messages',
    Array.isArray(to) ? { type: 'direct', to, content } : { type: 'stream', to, topic, content },
  );
/** Received messages of people; welcome messages of bots may arrive at any time. */
const said = (events: Json[]): string[] =>
  events
    .filter((event) => event.type === 'message' && !event.message.sender_email.includes('bot@'))
    .map((event) => event.message.content);
const contents = async (queue: Queue): Promise<string[]> => {
  while ((await queue.poll(true)).length > 0);
  return said(queue.seen);
};

describe('the narrow of a queue', () => {
  test.each([
    [[['channel', 'OWN']], ['in own', 'hello @**all**']],
    [
      [
        ['stream', 'Own'],
        ['topic', 'PLANS'],
      ],
      ['in own'],
    ],
    [[['topic', 'other']], ['hello @**all**']],
    [[['sender', 'OWNER']], ['in own', 'hello @**all**']],
    [[['is', 'dm']], ['directly']],
    [[['is', 'private']], ['directly']],
    [[['is', 'mentioned']], ['hello @**all**']],
    [[{ operator: 'is', operand: 'dm', negated: true }], ['in own', 'hello @**all**']],
    [[['channel', 'Open']], []],
  ])('%j selects only the matching messages', async (narrow, expected) => {
    const named = JSON.parse(JSON.stringify(narrow).replace('OWNER', realm.owner.email.toUpperCase())) as Json;
    const queue = await realm.member.queue({ event_types: ['message'], fetch_event_types: [], narrow: named });
    const all = await realm.member.queue({ event_types: ['message'], fetch_event_types: [] });
    await send(realm.owner, open, 'not received');
    await send(realm.owner, own, 'in own');
    await send(realm.owner, own, 'hello @**all**', 'other');
    const { id } = await send(realm.member2, [realm.member.user_id], 'directly');
    await all.next((event) => event.message?.id === id);
    // Another gateway, which has not read the message yet, may answer for this queue.
    await expect.poll(() => contents(queue)).toEqual(expected);
  });

  test('is rejected if it has an unsupported operator', async () => {
    for (const narrow of [
      [['has', 'link']],
      [['search', 'x']],
      [['is', 'followed']],
      [['channels', 'public']],
      [['dm', 'x']],
    ]) {
      const { status, body } = await realm.member.post('/register', { narrow });
      expect([status, body.code], JSON.stringify(narrow)).toEqual([400, 'BAD_REQUEST']);
    }
  });
});

test('the total text of a filter is limited, well above the filters of real clients', async () => {
  const register = async (form: Json): Promise<unknown> => {
    const { status, body } = await realm.member.post('/register', {
      event_types: ['message'],
      fetch_event_types: [],
      ...form,
    });
    return status === 200 ? 'registered' : [status, body.code];
  };
  const senders = (count: number, operand: string): Json =>
    Array.from({ length: count }, () => ({ operator: 'sender', operand, negated: true }));
  expect(await register({ narrow: senders(100, 'é'.repeat(1_000)) })).toEqual([400, 'BAD_REQUEST']);
  expect(await register({ narrow: senders(21, 'é'.repeat(100)) })).toEqual([400, 'BAD_REQUEST']);
  expect(await register({ narrow: senders(80, 'ada@example.com') })).toBe('registered');
  expect(await register({ event_types: Array(500).fill('é'.repeat(100)) })).toEqual([400, 'BAD_REQUEST']);
  expect(await register({ event_types: Array.from({ length: 200 }, (_, index) => `later_event_${index}`) })).toBe(
    'registered',
  );
  const asked = { dont_block: true, narrow: senders(21, 'a'.repeat(100)) };
  expect((await realm.member.get('/events', asked)).status).toBe(400);
});

describe('all_public_streams', () => {
  const wide = { event_types: ['message'], fetch_event_types: [], all_public_streams: true };

  test('adds the messages of public channels, without flags', async () => {
    const queue = await realm.member2.queue(wide);
    const { id } = await send(realm.owner, open, 'public');
    const { message, flags } = await queue.next((event) => event.message?.id === id);
    expect([message.content, flags]).toEqual(['public', []]);
    const secret = await realm.owner.ok('POST', '/channels/create', {
      name: 'Secret',
      invite_only: true,
      subscribers: [realm.owner.user_id],
    });
    await send(realm.owner, secret.id, 'secret');
    const last = await send(realm.owner, open, 'public too');
    await queue.next((event) => event.message?.id === last.id);
    expect(await contents(queue)).toEqual(['public', 'public too']);
  });

  test('is rejected for guests, and ends when a member becomes a guest', async () => {
    expect((await realm.guest.post('/register', wide)).body.code).toBe('BAD_REQUEST');
    const person = await realm.person();
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'Own' }],
      principals: [person.user_id],
    });
    const queue = await person.queue(wide);
    const held = queue.poll();
    await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 600 });
    await send(realm.owner, open, 'no longer for them');
    await send(realm.owner, own, 'one');
    await held;
    await send(realm.owner, open, 'nor this');
    const { id } = await send(realm.owner, own, 'two');
    await queue.next((event) => event.message?.id === id);
    expect(said(queue.seen)).toEqual(['one', 'two']);
  });
});

describe('client capabilities', () => {
  test('decide whether a changed emoji is sent alone or in the list of all emoji', async () => {
    const types = { event_types: ['realm_emoji'], fetch_event_types: [] };
    const single = await realm.member.queue({ ...types, client_capabilities: { individual_emoji_changes: true } });
    const whole = await realm.member.queue(types);
    const boundary = 'xyz';
    const body = Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n`),
      onePixel,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const uploaded = await exchange(`${realm.owner.url}/api/v1/realm/emoji/parrot`, 'POST', body, {
      host: realm.host,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      authorization: authorizationOf(realm.owner),
    });
    expect(uploaded.status).toBe(200);
    const added = await single.next(() => true);
    expect(added).toMatchObject({
      op: 'add',
      emoji: { name: 'parrot', deactivated: false, author_id: realm.owner.user_id },
    });
    expect((await whole.next(() => true)).realm_emoji).toEqual({ [added.emoji.id]: added.emoji });
    await realm.owner.ok('DELETE', '/realm/emoji/parrot');
    expect(await single.next((event) => event.op === 'update_one')).toMatchObject({
      emoji_id: added.emoji.id,
      data: { deactivated: true },
    });
    await whole.next((event) => event.realm_emoji?.[added.emoji.id].deactivated);
    expect([single.seen.length, whole.seen.length]).toEqual([2, 2]);
  });

  test('decide whether the pronouns field has its own type or is a short text', async () => {
    const types = { event_types: ['custom_profile_fields'] };
    const knowing = await realm.member.queue(types);
    const other = await realm.member.queue({ ...types, pronouns_field_type_supported: false });
    await realm.owner.ok('POST', '/realm/profile_fields', { name: 'Pronouns', field_type: 8 });
    expect((await knowing.next(() => true)).fields[0].type).toBe(8);
    expect((await other.next(() => true)).fields[0].type).toBe(1);
    const register = (form: Json) => realm.member.ok('POST', '/register', { ...types, ...form });
    expect((await register({})).custom_profile_fields[0].type).toBe(8);
    expect((await register({ pronouns_field_type_supported: false })).custom_profile_fields[0].type).toBe(1);
  });
});

test('a bot that does not request a filter uses the default that its owner set', async () => {
  const made = await realm.owner.ok('POST', '/bots', {
    full_name: 'Listener',
    short_name: 'listener',
    default_all_public_streams: true,
    default_events_register_stream: 'Open',
  });
  const Person = Object.getPrototypeOf(realm.owner).constructor as typeof Client;
  const bot = new Person(realm.owner, { ...made, email: `listener-bot@${realm.host}`, full_name: 'Listener' });
  const types = { event_types: ['message'], fetch_event_types: [] };
  const usual = await bot.queue(types);
  const topic = await bot.queue({ ...types, narrow: [['topic', 'only this']] });
  const alone = await bot.queue({ ...types, all_public_streams: false });
  await send(realm.owner, own, 'elsewhere');
  await send(realm.owner, open, 'there');
  await send(realm.owner, open, 'last', 'only this');
  await usual.next((event) => event.message?.content === 'last');
  expect(await contents(usual)).toEqual(['there', 'last']);
  await expect.poll(() => contents(topic)).toEqual(['last']);
  expect(await contents(alone)).toEqual([]);
});

test('max_message_id is the newest message that the user received', async () => {
  const person = await realm.person();
  await send(realm.owner, open, 'not for them');
  const first = await person.ok('POST', '/register', { fetch_event_types: ['message'] });
  const { id } = await send(person, [person.user_id], 'to myself');
  await send(realm.owner, open, 'not for them');
  const second = await person.ok('POST', '/register', { fetch_event_types: ['message'] });
  expect(second.max_message_id).toBe(id);
  expect(first.max_message_id).toBeLessThan(id);
});

test('a non-blocking poll without a queue creates one, and a poll without a cursor is rejected', async () => {
  const made = await realm.member.ok('GET', '/events', { dont_block: true, event_types: ['message'] });
  expect(made.events).toEqual([]);
  const { id } = await send(realm.member, [realm.member.user_id], 'into the new one');
  const { events } = await realm.member.ok('GET', '/events', { queue_id: made.queue_id, last_event_id: -1 });
  expect(events.map((event: Json) => event.message.id)).toEqual([id]);
  for (const form of [{}, { queue_id: made.queue_id }, { queue_id: made.queue_id, dont_block: true }])
    expect((await realm.member.get('/events', form)).body.code).toBe('BAD_REQUEST');
});
