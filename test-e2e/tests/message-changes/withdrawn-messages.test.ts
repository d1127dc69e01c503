import { type Client, copyRow, countOf, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let count = 0;
beforeAll(async () => {
  realm = await openRealm();
});

/** Subscribes users without messages of bots, which would be unread. */
const subscribe = (name: string, principals: number[], form: Json = {}) =>
  realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals,
    send_new_subscription_messages: false,
    ...form,
  });
async function channel(form: Json, people: Client[]): Promise<number> {
  const name = `channel ${++count}`;
  const principals = people.map(({ user_id }) => user_id);
  await subscribe(name, principals, form);
  return (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
}
const send = async (to: number, topic: string): Promise<number> =>
  (await realm.owner.ok('POST', '/messages', { type: 'channel', to, topic, content: 'hello' })).id;
const move = (id: number, stream_id: number) =>
  realm.owner.ok('PATCH', `/messages/${id}`, {
    stream_id,
    propagate_mode: 'change_all',
    send_notification_to_new_thread: false,
  });
const unreadOf = async (who: Client): Promise<number> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] })).unread_msgs.count;
const rowsOf = (table: string): Promise<number> => countOf(`messaging.${table}`, `realm_id = ${realm.id}`);
const mark = (who: Client, op: 'add' | 'remove', flag: string, id: number) =>
  who.ok('POST', '/messages/flags', { messages: [id], op, flag });

test('moving a topic away from its readers does not add rows for each user and each block of messages', async () => {
  const { member, member2, guest } = realm;
  const from = await channel({}, [realm.owner, member, member2, guest]);
  const to = await channel({ invite_only: true }, [realm.owner]);
  const before = await unreadOf(member);
  const id = await send(from, 'spread');
  const where = `realm_id = ${realm.id} AND id = ${id}`;
  // Each copy lies in a block of bits of its own.
  await copyRow({ table: 'messaging.message', where }, 500, { id: '1000000000 + n * 4096' });
  await mark(member, 'add', 'starred', id);
  expect(await unreadOf(member)).toBe(before + 501);
  const blocks = await rowsOf('read_block');
  await move(id, to);
  expect(await unreadOf(member)).toBe(before);
  expect(await rowsOf('read_block')).toBe(blocks);
  expect(await rowsOf('withdrawn_message')).toBe(501);
  // A row for each block of users: their ids may lie in two.
  expect(await rowsOf('withdrawal')).toBeLessThanOrEqual(2);
  expect((await member.ok('POST', '/register', { fetch_event_types: ['starred_messages'] })).starred_messages).toEqual(
    [],
  );
});

test('messages that are moved away and back stay read until they are marked as unread', async () => {
  const { owner, member, member2 } = realm;
  const from = await channel({}, [owner, member, member2]);
  const to = await channel({ invite_only: true }, [owner]);
  const [before, rows] = [await unreadOf(member), await rowsOf('withdrawn_message')];
  const id = await send(from, 'to and fro');
  await mark(member2, 'add', 'read', id);
  for (let round = 0; round < 3; round++) {
    await move(id, to);
    await move(id, from);
  }
  expect(await rowsOf('withdrawn_message')).toBe(rows + 1);
  expect(await unreadOf(member)).toBe(before);
  const readBy = async (): Promise<number[]> => (await owner.ok('GET', `/messages/${id}/read_receipts`)).user_ids;
  // The member lost it unread.
  expect(await readBy()).toEqual([member2.user_id]);
  const queue = await member.queue({ event_types: ['update_message'] });
  await owner.ok('PATCH', `/messages/${id}`, { content: 'changed' });
  expect((await queue.next(() => true)).flags).toContain('read');
  await mark(member, 'remove', 'read', id);
  expect(await unreadOf(member)).toBe(before + 1);
  await mark(member, 'add', 'read', id);
  expect(await unreadOf(member)).toBe(before);
  expect(new Set(await readBy())).toEqual(new Set([member.user_id, member2.user_id]));
});

test('a user who later subscribes to the new channel sees the moved messages as read', async () => {
  const { owner, member } = realm;
  const from = await channel({}, [owner, member]);
  const to = await channel({ invite_only: true, history_public_to_subscribers: true }, [owner]);
  const before = await unreadOf(member);
  const id = await send(from, 'later');
  await move(id, to);
  const { name } = (await owner.ok('GET', `/streams/${to}`)).stream;
  await subscribe(name, [member.user_id]);
  expect(await unreadOf(member)).toBe(before);
  expect((await member.ok('GET', `/messages/${id}`)).message.flags).toContain('read');
});

test('deleting withdrawn messages deletes their withdrawal', async () => {
  const { owner, member } = realm;
  const from = await channel({}, [owner, member]);
  const to = await channel({ invite_only: true }, [owner]);
  const rows = [await rowsOf('withdrawn_message'), await rowsOf('withdrawal')];
  const id = await send(from, 'deleted');
  await move(id, to);
  await owner.ok('DELETE', `/messages/${id}`);
  expect([await rowsOf('withdrawn_message'), await rowsOf('withdrawal')]).toEqual(rows);
});
