import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';

/** A topic that all users have read, resolved by its sender: the events that each of them receives about the notice. */
async function resolve(realm: Realm, others: readonly Client[]): Promise<{ id: number; flags: Json[] }> {
  const sender = realm.moderator;
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'work' }],
    principals: [sender.user_id, ...others.map((who) => who.user_id)],
  });
  const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'work' });
  const { id: first } = await sender.ok('POST', '/messages', {
    type: 'channel',
    to: stream_id,
    topic: 'task',
    content: 'to do',
  });
  await others[0]?.ok('POST', '/user_topics', { stream_id, topic: 'task', visibility_policy: 3 });
  await others[2]?.ok('POST', '/user_topics', { stream_id, topic: 'task', visibility_policy: 3 });
  const queues = await Promise.all(others.map((who) => who.queue({ event_types: ['message'] })));
  await sender.ok('PATCH', `/messages/${first}`, { topic: '✔ task', propagate_mode: 'change_all' });
  const isNotice = ({ message }: Json) => message.subject === '✔ task';
  const events = await Promise.all(queues.map((queue) => queue.next(isNotice)));
  return { id: events[0].message.id, flags: events.map((event) => event.flags) };
}

const unread = async (who: Client, id: number): Promise<boolean> => {
  const { unread_msgs } = await who.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] });
  return unread_msgs.streams.some(({ unread_message_ids }: Json) => unread_message_ids.includes(id));
};
const flags = async (who: Client, id: number): Promise<string[]> =>
  (await who.ok('GET', `/messages/${id}`)).message.flags;

test('a notice of a resolved topic arrives as read, except for followers, unless the setting is always or never', async () => {
  const realm = await openRealm();
  const [follower, other, always, never] = [realm.member, realm.member2, await realm.person(), await realm.person()];
  await always.ok('PATCH', '/settings', { resolved_topic_notice_auto_read_policy: 'always' });
  await never.ok('PATCH', '/settings', { resolved_topic_notice_auto_read_policy: 'never' });
  const all = [follower, other, always, never];
  const notice = await resolve(realm, all);
  expect(notice.flags).toEqual([[], ['read'], ['read'], []]);
  expect(await Promise.all(all.map((who) => unread(who, notice.id)))).toEqual([true, false, false, true]);
  expect(await Promise.all(all.map((who) => flags(who, notice.id)))).toEqual([[], ['read'], ['read'], []]);
  // The flag stays until its reader changes it.
  await other.ok('PATCH', '/settings', { resolved_topic_notice_auto_read_policy: 'never' });
  expect(await flags(other, notice.id)).toEqual(['read']);
  await other.ok('POST', '/messages/flags', { messages: [notice.id], op: 'remove', flag: 'read' });
  expect([await flags(other, notice.id), await unread(other, notice.id)]).toEqual([[], true]);
  await other.ok('POST', '/messages/flags', { messages: [notice.id], op: 'add', flag: 'read' });
  expect(await flags(other, notice.id)).toEqual(['read']);
});

test('a notice of a resolved topic is read for the user who resolved it', async () => {
  const realm = await openRealm();
  const { moderator, member } = realm;
  await moderator.ok('PATCH', '/settings', { resolved_topic_notice_auto_read_policy: 'never' });
  const notice = await resolve(realm, [member]);
  expect([await flags(moderator, notice.id), await flags(member, notice.id)]).toEqual([['read'], []]);
  expect([await unread(moderator, notice.id), await unread(member, notice.id)]).toEqual([false, true]);
});
