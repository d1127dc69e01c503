import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let count = 0;
beforeAll(async () => {
  realm = await openRealm();
});

async function channel(form: Json, people: Client[]): Promise<number> {
  const name = `channel ${++count}`;
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: people.map((person) => person.user_id),
    ...form,
  });
  return (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
}
const send = async (to: number, topic: string): Promise<number> =>
  (await realm.owner.ok('POST', '/messages', { type: 'channel', to, topic, content: 'hello' })).id;
const isChange = ({ type }: Json): boolean => ['update_message', 'delete_message', 'user_topic'].includes(type);
const capable = { client_capabilities: { bulk_message_deletion: true } };

test('a move to a private channel stays visible to members of can_subscribe_group, and deletes for other users', async () => {
  const { owner, member, member2 } = realm;
  const from = await channel({}, [owner, member, member2]);
  const to = await channel(
    { invite_only: true, can_subscribe_group: { direct_members: [member.user_id], direct_subgroups: [] } },
    [owner],
  );
  const id = await send(from, 'plans');
  for (const who of [member, member2])
    await who.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  const [reading, losing] = [await member.queue(capable), await member2.queue(capable)];
  await owner.ok('PATCH', `/messages/${id}`, { stream_id: to });
  const [told, lost] = [(await reading.settle()).filter(isChange), (await losing.settle()).filter(isChange)];
  expect(told).toMatchObject([{ type: 'update_message', message_ids: [id], new_stream_id: to }]);
  expect(lost).toMatchObject([{ type: 'delete_message', message_ids: [id], stream_id: from }]);
  expect((await member.ok('POST', '/register')).starred_messages).toContain(id);
  expect((await member.get(`/messages/${id}`)).status).toBe(200);
  const { user_ids } = await owner.ok('GET', `/messages/${id}/read_receipts`);
  expect(user_ids).not.toContain(member2.user_id);
  // Depends on what they may read, not on their subscriptions.
  const flag = { messages: [id], op: 'add', flag: 'starred' };
  expect([
    (await member.post('/messages/flags', flag)).status,
    (await member2.post('/messages/flags', flag)).status,
  ]).toEqual([200, 400]);
  const foundBy = async (who: Client): Promise<number[]> =>
    (await who.ok('GET', '/messages', { message_ids: [id] })).messages.map((message: Json) => message.id);
  expect([await foundBy(member), await foundBy(member2)]).toEqual([[id], []]);
});

test('a preference follows a moved topic, except for a guest who cannot see the new channel', async () => {
  const { owner, member, guest } = realm;
  const from = await channel({}, [owner, member, guest]);
  const to = await channel({}, [owner]);
  const id = await send(from, 'followed');
  for (const who of [member, guest])
    await who.ok('POST', '/user_topics', { stream_id: from, topic: 'followed', visibility_policy: 3 });
  const queue = await guest.queue(capable);
  await owner.ok('PATCH', `/messages/${id}`, { stream_id: to, propagate_mode: 'change_all' });
  expect(JSON.stringify(await queue.settle())).not.toContain(`"stream_id":${to}`);
  const placesOf = async (who: Client): Promise<number[]> =>
    (await who.ok('POST', '/register')).user_topics.map((one: Json) => one.stream_id);
  expect(await placesOf(guest)).toEqual([]);
  expect(await placesOf(member)).toEqual([to]);
});

test('a move of several messages of a protected history notifies a user who sees only the last of them', async () => {
  const { owner, member, member2 } = realm;
  const form = { invite_only: true, history_public_to_subscribers: false };
  const from = await channel(form, [owner, member]);
  const to = await channel({ invite_only: true }, [owner, member]);
  const first = await send(from, 'gold');
  const { name } = (await owner.ok('GET', `/streams/${from}`)).stream;
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [member2.user_id] });
  const last = await send(from, 'gold');
  const queue = await member2.queue(capable);
  await owner.ok('PATCH', `/messages/${first}`, { stream_id: to, propagate_mode: 'change_all' });
  expect((await queue.settle()).filter(isChange)).toMatchObject([{ type: 'delete_message', stream_id: from }]);
  const { unread_msgs } = await member2.ok('POST', '/register');
  expect(unread_msgs.streams.flatMap((one: Json) => one.unread_message_ids)).not.toContain(last);
});
