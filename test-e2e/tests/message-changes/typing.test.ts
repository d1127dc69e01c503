import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let channelId: number;
beforeAll(async () => {
  realm = await openRealm();
  for (const who of [realm.member, realm.member2])
    await who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  channelId = (await realm.member.ok('GET', '/get_stream_id', { stream: 'open' })).stream_id;
});

const isTyping = ({ type }: Json): boolean => type === 'typing';

describe('typing a direct message', () => {
  test('sends events to its participants only', async () => {
    const [theirs, other] = [await realm.member2.queue(), await realm.owner.queue()];
    await realm.member.ok('POST', '/typing', { op: 'start', to: [realm.member2.user_id] });
    const event = await theirs.next(isTyping);
    expect(event).toMatchObject({
      op: 'start',
      message_type: 'direct',
      sender: { user_id: realm.member.user_id, email: realm.member.email },
    });
    expect(event.recipients.map((person: Json) => person.user_id)).toEqual(
      [realm.member.user_id, realm.member2.user_id].sort((a, b) => a - b),
    );
    await realm.member.ok('POST', '/typing', { op: 'stop', type: 'private', to: [realm.member2.user_id] });
    await theirs.next((seen) => isTyping(seen) && seen.op === 'stop');
    expect((await other.settle()).filter(isTyping)).toEqual([]);
  });

  test.each<[string, () => Json]>([
    ['an unknown op', () => ({ op: 'pause', to: [realm.member2.user_id] })],
    ['an empty list of recipients', () => ({ op: 'start', to: [] })],
    ['an unknown user', () => ({ op: 'start', to: [999_999] })],
  ])('with %s is rejected', async (_, form) => {
    const { status, body } = await realm.member.post('/typing', form());
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('without recipients is rejected', async () => {
    const { status, body } = await realm.member.post('/typing', { op: 'start' });
    expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', 'to']);
  });
});

test('a user who turned off typing notifications receives none, from direct messages or channels', async () => {
  const { member, member2, owner } = realm;
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  await member2.ok('PATCH', '/settings', { receives_typing_notifications: false });
  const modern = { client_capabilities: { stream_typing_notifications: true } };
  const [unwilling, willing] = [await member2.queue(modern), await owner.queue(modern)];
  await member.ok('POST', '/typing', { op: 'start', to: [member2.user_id, owner.user_id] });
  await willing.next((event) => isTyping(event) && event.message_type === 'direct');
  await member.ok('POST', '/typing', { type: 'channel', op: 'start', stream_id: channelId, topic: 'lunch' });
  await willing.next((event) => isTyping(event) && event.message_type === 'stream');
  expect((await unwilling.settle()).filter(isTyping)).toEqual([]);
  await member2.ok('PATCH', '/settings', { receives_typing_notifications: true });
  await member.ok('POST', '/typing', { op: 'stop', to: [member2.user_id, owner.user_id] });
  await unwilling.next((event) => isTyping(event) && event.op === 'stop');
});

describe('typing in a channel', () => {
  test('sends events to subscribers whose client supports them', async () => {
    const capable = await realm.member2.queue({ client_capabilities: { stream_typing_notifications: true } });
    const old = await realm.member2.queue();
    const form = { type: 'channel', op: 'start', stream_id: channelId, topic: 'lunch' };
    await realm.member.ok('POST', '/typing', form);
    expect(await capable.next(isTyping)).toMatchObject({
      op: 'start',
      message_type: 'stream',
      stream_id: channelId,
      topic: 'lunch',
      sender: { user_id: realm.member.user_id },
    });
    expect((await old.settle()).filter(isTyping)).toEqual([]);
  });

  test('requires a topic and a channel that the user may read', async () => {
    await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'shut' }], invite_only: true });
    const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'shut' });
    const type = (form: Json) => realm.member.post('/typing', { type: 'stream', op: 'start', ...form });
    expect((await type({ stream_id, topic: 'x' })).body).toEqual((await type({ stream_id: 999_999, topic: 'x' })).body);
    expect((await type({ stream_id: channelId })).body.code).toBe('REQUEST_VARIABLE_MISSING');
  });
});

describe('typing in a message that is being edited', () => {
  test('sends an event to users who have the message', async () => {
    const form = { type: 'channel', to: 'open', topic: 'x', content: 'hello' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    const queue = await realm.member2.queue();
    await realm.member.ok('POST', `/messages/${id}/typing`, { op: 'start' });
    expect(await queue.next(({ type }) => type === 'typing_edit_message')).toMatchObject({
      op: 'start',
      sender_id: realm.member.user_id,
      message_id: id,
      recipient: { type: 'channel', channel_id: channelId, topic: 'x' },
    });
  });

  test('includes the participants of a direct message', async () => {
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    const queue = await realm.member2.queue();
    await realm.member.ok('POST', `/messages/${id}/typing`, { op: 'stop' });
    const { recipient } = await queue.next(({ type }) => type === 'typing_edit_message');
    const user_ids = [realm.member.user_id, realm.member2.user_id].sort((a, b) => a - b);
    expect(recipient).toEqual({ type: 'direct', user_ids });
  });
});

test('typing events of a user with a hidden address contain the placeholder address', async () => {
  const person = await realm.person();
  await person.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  await person.ok('PATCH', '/settings', { email_address_visibility: 4 });
  const email = `user${person.user_id}@${realm.host}`;
  const queue = await realm.member2.queue({ client_capabilities: { stream_typing_notifications: true } });
  await person.ok('POST', '/typing', { op: 'start', type: 'stream', stream_id: channelId, topic: 'a' });
  expect((await queue.next(isTyping)).sender).toEqual({ user_id: person.user_id, email });
  await person.ok('POST', '/typing', { op: 'start', to: [realm.member2.email] });
  expect((await queue.next(isTyping)).sender).toEqual({ user_id: person.user_id, email });
});
