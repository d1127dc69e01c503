import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const isNotice = (event: Json) => event.type === 'message' && event.message.sender_full_name === 'Notification Bot';

test('notices about a new channel are read for its creator and unread for other users', async () => {
  const { owner, member, member2, moderator } = realm;
  const news = {
    subscriptions: [{ name: 'announcements' }],
    principals: [owner.user_id, member.user_id, member2.user_id],
  };
  await owner.ok('POST', '/users/me/subscriptions', news);
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'announcements' });
  await owner.ok('PATCH', '/realm', { new_stream_announcements_stream_id: stream_id });
  const queues = await Promise.all([member.queue(), member2.queue()]);
  await member.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'weaving' }],
    principals: [member.user_id, member2.user_id],
    announce: true,
  });
  await owner.ok('PATCH', '/realm', { new_stream_announcements_stream_id: -1 });
  const topics = { weaving: 'channel events', announcements: 'new channels' };
  for (const [name, topic] of Object.entries(topics)) {
    const isNote = (event: Json) =>
      isNotice(event) && event.message.display_recipient === name && event.message.subject === topic;
    const [mine, other] = await Promise.all(
      queues.map(async (queue) => queue.seen.find(isNote) ?? (await queue.next(isNote))),
    );
    expect([name, mine?.flags.includes('read'), other?.flags.includes('read')]).toEqual([name, true, false]);
    const flagsFor = async (who: Client): Promise<string[]> =>
      (await who.ok('GET', `/messages/${mine?.message.id}`)).message.flags;
    expect([name, (await flagsFor(member)).includes('read'), (await flagsFor(member2)).includes('read')]).toEqual([
      name,
      true,
      false,
    ]);
    const { unread_msgs } = await member.ok('POST', '/register', {
      fetch_event_types: ['message', 'update_message_flags'],
    });
    const unread = unread_msgs.streams.flatMap((one: Json) => one.unread_message_ids);
    expect(unread).not.toContain(mine?.message.id);
  }
  // A user who is subscribed later has received neither.
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'weaving' }],
    principals: [moderator.user_id],
  });
  const { unread_msgs } = await moderator.ok('POST', '/register', {
    fetch_event_types: ['message', 'update_message_flags'],
  });
  const { stream_id: weaving } = await owner.ok('GET', '/get_stream_id', { stream: 'weaving' });
  expect(unread_msgs.streams.filter((one: Json) => one.stream_id === weaving)).toEqual([]);
});
