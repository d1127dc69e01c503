import { type Client, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
const subscribe = (who: Client, name: string, principals: Client[]) =>
  who.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: principals.map((person) => person.user_id),
  });
const say = async (who: Client, to: string, topic: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic, content: 'x' })).id;
const tell = async (who: Client, to: Client[]): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'direct', to: to.map((person) => person.user_id), content: 'x' })).id;
const unreadOf = async (who: Client): Promise<Json> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] })).unread_msgs;
const flags = (who: Client, messages: number[], op: string, flag: string) =>
  who.post('/messages/flags', { messages, op, flag });
const flagsOf = async (who: Client, id: number): Promise<string[]> =>
  (await who.ok('GET', `/messages/${id}`)).message.flags;

beforeAll(async () => {
  realm = await openRealm();
});

describe('unread messages in a register', () => {
  test('are listed by conversation until they are read', async () => {
    const { owner, administrator: reader, moderator } = realm;
    await subscribe(owner, 'unread', [owner, reader]);
    await noticesSent(realm.id);
    await reader.ok('POST', '/mark_all_as_read');
    const first = await say(owner, 'unread', 'a');
    const second = await say(owner, 'unread', 'A');
    const direct = await tell(owner, [reader]);
    const group = await tell(moderator, [owner, reader]);
    const unread = await unreadOf(reader);
    const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'unread' });
    expect(unread.streams.filter((one: Json) => one.stream_id === stream_id && one.topic === 'a')).toEqual([
      { topic: 'a', stream_id, unread_message_ids: [first, second] },
    ]);
    expect(unread.pms.find((one: Json) => one.other_user_id === owner.user_id).unread_message_ids).toContain(direct);
    const participants = [owner, reader, moderator].map((person) => person.user_id).sort((a, b) => a - b);
    expect(unread.huddles).toEqual([{ user_ids_string: participants.join(','), unread_message_ids: [group] }]);
    expect(unread.old_unreads_missing).toBe(false);
    const all = (await unreadOf(reader)).count;
    expect((await flags(reader, [first, direct], 'add', 'read')).body.messages).toEqual([first, direct]);
    expect((await unreadOf(reader)).count).toBe(all - 2);
    await reader.ok('POST', '/mark_all_as_read');
    expect(await unreadOf(reader)).toMatchObject({ count: 0, pms: [], streams: [], huddles: [], mentions: [] });
    expect((await flags(reader, [second], 'remove', 'read')).status).toBe(200);
    expect((await unreadOf(reader)).streams).toEqual([{ topic: 'A', stream_id, unread_message_ids: [second] }]);
  });
  test('exclude messages that the user sent interactively or that were sent before they subscribed', async () => {
    const { member, member2 } = realm;
    await member.ok('POST', '/mark_all_as_read');
    await member2.ok('POST', '/mark_all_as_read');
    await subscribe(member, 'joined later', [member]);
    await say(member, 'joined later', 't');
    const own = await member.ok('POST', '/messages', {
      type: 'channel',
      to: 'joined later',
      topic: 'own',
      content: 'x',
      read_by_sender: true,
    });
    expect(await flagsOf(member, own.id)).toEqual(['read']);
    await noticesSent(realm.id);
    await subscribe(member2, 'joined later', [member2]);
    expect((await unreadOf(member2)).streams).toEqual([]);
    expect((await unreadOf(member)).streams.map((one: Json) => one.topic)).not.toContain('own');
  });
  test('of a channel become read with an event when the subscription ends', async () => {
    const { owner, guest } = realm;
    await subscribe(owner, 'left', [owner, guest]);
    const id = await say(owner, 'left', 't');
    const queue = await guest.queue({ event_types: ['update_message_flags'] });
    await guest.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['left'] });
    const event = await queue.next((one) => one.type === 'update_message_flags');
    expect(event).toMatchObject({ op: 'add', operation: 'add', flag: 'read', all: false });
    expect(event.messages).toContain(id);
    expect((await unreadOf(guest)).streams.flatMap((one: Json) => one.unread_message_ids)).not.toContain(id);
  });
});

describe('flags', () => {
  test('can be set and removed, and only clients of the same user receive the events', async () => {
    const { owner, member } = realm;
    const id = await tell(owner, [member]);
    // The owner receives those about the channels of earlier tests.
    await noticesSent(realm.id);
    const [mine, theirs] = [
      await member.queue({ event_types: ['update_message_flags'] }),
      await owner.queue({ event_types: ['update_message_flags', 'message'] }),
    ];
    await flags(member, [id], 'add', 'starred');
    expect(await mine.next(() => true)).toMatchObject({ op: 'add', flag: 'starred', messages: [id] });
    expect(await flagsOf(member, id)).toEqual(['starred']);
    const { starred_messages } = await member.ok('POST', '/register', { fetch_event_types: ['starred_messages'] });
    expect(starred_messages).toEqual([id]);
    await flags(member, [id], 'remove', 'starred');
    expect(await mine.next((event) => event.op === 'remove')).toMatchObject({ flag: 'starred', messages: [id] });
    expect((await theirs.settle()).map((event) => event.type)).toEqual([]);
  });
  test('send the conversation of each message that is marked as unread', async () => {
    const { owner, member } = realm;
    await subscribe(owner, 'details', [owner, member]);
    const [direct, inChannel] = [await tell(owner, [member]), await say(owner, 'details', 't')];
    await flags(member, [direct, inChannel], 'add', 'read');
    const queue = await member.queue({ event_types: ['update_message_flags'] });
    await flags(member, [direct, inChannel], 'remove', 'read');
    const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'details' });
    expect((await queue.next(() => true)).message_details).toEqual({
      [direct]: { type: 'private', user_ids: [owner.user_id] },
      [inChannel]: { type: 'stream', stream_id, topic: 't', unmuted_stream_msg: true },
    });
  });
  test('cannot mark messages of unsubscribed channels as unread, and these channels are listed', async () => {
    const { owner, member2 } = realm;
    await subscribe(owner, 'elsewhere', [owner]);
    const id = await say(owner, 'elsewhere', 't');
    const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'elsewhere' });
    const { body } = await flags(member2, [id], 'remove', 'read');
    expect(body).toMatchObject({ messages: [], ignored_because_not_subscribed_channels: [stream_id] });
  });
  test('of a deleted message are removed for all users who had set them', async () => {
    const { owner, member2 } = realm;
    await subscribe(owner, 'deleted', [owner]);
    const [one, other] = [await say(owner, 'deleted', 't'), await say(owner, 'deleted', 'all')];
    await flags(member2, [one, other], 'add', 'starred');
    const queue = await member2.queue({ client_capabilities: { bulk_message_deletion: true } });
    await owner.ok('DELETE', `/messages/${one}`);
    expect(await queue.next((event) => event.type === 'delete_message')).toMatchObject({ message_ids: [one] });
    const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'deleted' });
    await owner.ok('POST', `/streams/${stream_id}/delete_topic`, { topic_name: 'all' });
    expect(await queue.next((event) => event.type === 'delete_message')).toMatchObject({ message_ids: [other] });
    // A user who lost access to a channel receives no event about it except for the removed star.
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'deleted in private' }],
      principals: [owner.user_id, member2.user_id],
      invite_only: true,
    });
    const hidden = await say(owner, 'deleted in private', 't');
    await flags(member2, [hidden], 'add', 'starred');
    await member2.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['deleted in private'] });
    await owner.ok('DELETE', `/messages/${hidden}`);
    expect(await queue.next((event) => event.type === 'update_message_flags' && event.op === 'remove')).toMatchObject({
      flag: 'starred',
      messages: [hidden],
    });
    expect(queue.seen.filter((event) => event.type === 'delete_message')).toHaveLength(2);
    const state = await member2.ok('POST', '/register', { fetch_event_types: ['starred_messages'] });
    expect(state.starred_messages).toEqual([]);
  });
  test('of a message that its user lost access to are removed by this user alone', async () => {
    const { owner, member, member2 } = realm;
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'lost' }],
      principals: [owner.user_id, member.user_id, member2.user_id],
      invite_only: true,
    });
    const id = await say(owner, 'lost', 't');
    for (const user of [member, member2])
      for (const flag of ['starred', 'collapsed']) await flags(user, [id], 'add', flag);
    await member.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['lost'] });
    const queue = await member.queue({ event_types: ['update_message_flags'] });
    const starred = async (user: Client): Promise<number[]> =>
      (await user.ok('POST', '/register', { fetch_event_types: ['starred_messages'] })).starred_messages;
    expect(await starred(member)).toContain(id);
    for (const flag of ['starred', 'collapsed']) {
      expect((await flags(member, [id], 'remove', flag)).body.messages).toEqual([id]);
      expect((await flags(member, [id], 'remove', flag)).body.messages).toEqual([]);
      expect(await queue.next((event) => event.flag === flag)).toMatchObject({ op: 'remove', messages: [id] });
      expect((await flags(member, [id], 'add', flag)).body.msg).toBe('Invalid message(s)');
    }
    expect(await starred(member)).not.toContain(id);
    expect(await flagsOf(member2, id)).toEqual(expect.arrayContaining(['starred', 'collapsed']));
  });
  test('of a missing message can be removed and marked as read, but other changes of it are rejected', async () => {
    const { owner, member, member2 } = realm;
    const here = await tell(owner, [member]);
    const hidden = await tell(owner, [member2]);
    await flags(member, [here], 'add', 'starred');
    for (const missing of [99_999_999, hidden]) {
      for (const [op, flag] of [
        ['add', 'starred'],
        ['add', 'collapsed'],
        ['remove', 'read'],
      ] as const)
        expect((await flags(member, [here, missing], op, flag)).body).toMatchObject({
          code: 'BAD_REQUEST',
          msg: 'Invalid message(s)',
        });
      expect((await flags(member, [missing], 'add', 'read')).body.messages).toEqual([]);
      expect((await flags(member, [missing], 'remove', 'collapsed')).body.messages).toEqual([]);
    }
    expect((await flags(member, [hidden, here, 99_999_999], 'add', 'read')).body.messages).toEqual([here]);
    expect((await flags(member, [99_999_999, here, hidden], 'remove', 'starred')).body.messages).toEqual([here]);
    expect(await flagsOf(member, here)).toEqual(['read']);
  });
  test.each([
    ['mentioned', "Flag not editable: 'mentioned'"],
    ['shiny', "Invalid message flag: 'shiny'"],
  ])('%s is refused', async (flag, msg) => {
    expect((await flags(realm.member, [], 'add', flag)).body).toMatchObject({ code: 'BAD_REQUEST', msg });
  });
  test('of a narrow are changed page by page', async () => {
    const { owner, member } = realm;
    await subscribe(owner, 'flagging', [owner, member]);
    const ids: number[] = [];
    for (let index = 0; index < 5; index++) ids.push(await say(owner, 'flagging', 't'));
    const form = {
      anchor: 'oldest',
      num_before: 0,
      num_after: 3,
      op: 'add',
      flag: 'read',
      narrow: [
        ['channel', 'flagging'],
        ['topic', 't'],
      ],
    };
    expect(await member.ok('POST', '/messages/flags/narrow', form)).toMatchObject({
      processed_count: 3,
      updated_count: 3,
      first_processed_id: ids[0],
      last_processed_id: ids[2],
      found_oldest: true,
      found_newest: false,
    });
    expect([await flagsOf(member, ids[2] ?? 0), await flagsOf(member, ids[3] ?? 0)]).toEqual([['read'], []]);
  });
});

test('recent conversations are ordered by their newest message', async () => {
  const { owner, administrator, moderator } = await openRealm();
  await tell(owner, [administrator]);
  const both = await tell(owner, [administrator, moderator]);
  const one = await tell(administrator, [owner]);
  const { recent_private_conversations } = await owner.ok('POST', '/register', {
    fetch_event_types: ['recent_private_conversations'],
  });
  // The welcome message may arrive at any time.
  const ours = recent_private_conversations.filter((one: { user_ids: number[] }) =>
    one.user_ids.includes(administrator.user_id),
  );
  expect(ours).toEqual([
    { max_message_id: one, user_ids: [administrator.user_id] },
    { max_message_id: both, user_ids: [administrator.user_id, moderator.user_id] },
  ]);
});

test('messages of 101 private channels that only a permission opens can be flagged in one request', async () => {
  const { owner, member } = realm;
  const names = Array.from({ length: 101 }, (_, index) => `opened ${index}`);
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: names.map((name) => ({ name })),
    invite_only: true,
    history_public_to_subscribers: true,
    can_subscribe_group: { direct_members: [member.user_id], direct_subgroups: [] },
  });
  const ids: number[] = [];
  for (const name of names) ids.push(await say(owner, name, 't'));
  const { status, body } = await flags(member, ids, 'add', 'starred');
  expect([status, body.messages]).toEqual([200, ids]);
});

test('a starred message of a private channel that a permission alone opens is listed among the starred ones', async () => {
  const { owner, moderator } = realm;
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'opened to stars' }],
    invite_only: true,
    history_public_to_subscribers: true,
    can_subscribe_group: { direct_members: [moderator.user_id], direct_subgroups: [] },
  });
  const [id] = [await say(owner, 'opened to stars', 't'), await say(owner, 'opened to stars', 't')];
  await flags(moderator, [id], 'add', 'starred');
  const listed = async (): Promise<number[]> => {
    const form = { anchor: 'newest', num_before: 10, num_after: 0, narrow: [['is', 'starred']] };
    return (await moderator.ok('GET', '/messages', form)).messages.map((message: Json) => message.id);
  };
  expect(await listed()).toEqual([id]);
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'opened to stars' });
  await owner.ok('PATCH', `/streams/${stream_id}`, {
    can_subscribe_group: {
      old: { direct_members: [moderator.user_id], direct_subgroups: [] },
      new: { direct_members: [], direct_subgroups: [] },
    },
  });
  expect(await listed()).toEqual([]);
});

test('a register returns the newest message that its user received', async () => {
  const { owner, member, member2 } = realm;
  const newest = async (who: Client): Promise<number> =>
    (await who.ok('POST', '/register', { fetch_event_types: ['message'] })).max_message_id;
  const id = await tell(owner, [member]);
  const later = await tell(owner, [member2]);
  expect([await newest(member), await newest(member2), await newest(owner)]).toEqual([id, later, later]);
});

test('the pointer of old clients is stored and only moves forward', async () => {
  const pointer = async () => (await realm.guest.ok('GET', '/users/me/pointer')).pointer;
  expect(await pointer()).toBe(-1);
  await realm.guest.ok('POST', '/users/me/pointer', { pointer: 12 });
  await realm.guest.ok('POST', '/users/me/pointer', { pointer: 7 });
  expect(await pointer()).toBe(12);
});
