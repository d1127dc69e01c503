import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.owner, [realm.owner, realm.member, realm.member2]);
});

const poll = async (topic: string): Promise<number> => {
  const form = { type: 'channel', to: at, topic, content: '/poll Which?\n- this' };
  return (await realm.owner.ok('POST', '/messages', form)).id;
};
const react = (who: Client, id: number) => who.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'smile' });
const vote = (who: Client, id: number) => {
  const content = JSON.stringify({ type: 'vote', key: 'canned,0', vote: 1 });
  return who.ok('POST', '/submessage', { message_id: id, msg_type: 'widget', content });
};
const policyOf = async (who: Client, topic: string): Promise<number | undefined> => {
  const { user_topics } = await who.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  return user_topics.find((one: Json) => one.topic_name === topic)?.visibility_policy;
};

test.each([
  ['a reaction', react],
  ['a vote', vote],
] as const)('%s follows its topic only for users whose setting includes participation', async (kind, act) => {
  const { member, member2 } = realm;
  const topic = `followed by ${kind}`;
  const id = await poll(topic);
  await member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  await member2.ok('PATCH', '/settings', { automatically_follow_topics_policy: 2 });
  const queue = await member.queue({ event_types: ['user_topic'] });
  await act(member, id);
  await act(member2, id);
  expect(await queue.next(() => true)).toMatchObject({
    stream_id: at,
    topic_name: topic,
    visibility_policy: 3,
  });
  expect(await policyOf(member, topic)).toBe(3);
  expect(await policyOf(member2, topic)).toBeUndefined();
});

test('a reaction unmutes its topic in a muted channel, and changes nothing in another channel', async () => {
  const { member } = realm;
  await member.ok('PATCH', '/settings', {
    automatically_follow_topics_policy: 4,
    automatically_unmute_topics_in_muted_streams_policy: 1,
  });
  await react(member, await poll('in an open channel'));
  expect(await policyOf(member, 'in an open channel')).toBeUndefined();
  const set = (value: boolean) =>
    member.ok('POST', '/users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: at, property: 'is_muted', value }],
    });
  await set(true);
  await react(member, await poll('in a muted channel'));
  expect(await policyOf(member, 'in a muted channel')).toBe(2);
  await set(false);
});

test('clients with only muted_topics receive an event when participation ends a mute', async () => {
  const { member } = realm;
  const id = await poll('muted');
  await member.ok('POST', '/user_topics', { stream_id: at, topic: 'Muted', visibility_policy: 1 });
  await member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  const queue = await member.queue({ event_types: ['muted_topics'] });
  await react(member, id);
  expect((await queue.next(() => true)).muted_topics).toEqual([]);
  expect(await policyOf(member, 'Muted')).toBe(3);
});

test('participation does not change a followed topic and does not apply to direct messages', async () => {
  const { owner, member } = realm;
  await member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  const id = await poll('twice');
  const queue = await member.queue({ event_types: ['user_topic', 'reaction'] });
  await react(member, id);
  await vote(member, id);
  const direct = { type: 'direct', to: [member.user_id], content: 'x' };
  const { id: directId } = await owner.ok('POST', '/messages', direct);
  await react(member, directId);
  await queue.next((event) => event.message_id === directId);
  expect(queue.seen.filter((event) => event.type === 'user_topic')).toHaveLength(1);
});

test('participation without a subscription follows no topic', async () => {
  const { moderator } = realm;
  await moderator.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  const id = await poll('of others');
  await react(moderator, id);
  await vote(moderator, id);
  expect(await policyOf(moderator, 'of others')).toBeUndefined();
});
