import { type Client, connected, copyRow, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';
import { whileConsumerIsHeld } from '../held-consumer.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.owner, [realm.owner, realm.administrator, realm.member, realm.member2]);
});

const send = async (who: Client, topic: string, content: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: at, topic, content })).id;
const preferencesOf = async (who: Client): Promise<Json[]> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['user_topic'] })).user_topics;
const mention = (...people: Client[]): string =>
  people.map(({ full_name, user_id }) => `@**${full_name}|${user_id}**`).join(' ');
/** Events of the log after a message. */
const eventsAfter = (id: number, type: string): Promise<number> =>
  connected(async (client) => {
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM log.event WHERE realm_id = $1 AND number > $2 AND type = $3',
      [realm.id, id, type],
    );
    return rows[0]?.count ?? 0;
  });

test('one event notifies all users who follow a topic because of one message', async () => {
  const { owner, administrator: admin, member, member2 } = realm;
  await send(member, 'shared', 'x');
  const queues = await Promise.all([admin, member2].map((who) => who.queue({ event_types: ['user_topic'] })));
  const id = await send(owner, 'shared', mention(admin, member, member2));
  for (const queue of queues)
    expect(await queue.next(() => true)).toMatchObject({ topic_name: 'shared', visibility_policy: 3 });
  expect(await eventsAfter(id, 'user_topic')).toBe(1);
  for (const who of [admin, member, member2])
    expect(await preferencesOf(who)).toMatchObject([{ topic_name: 'shared', visibility_policy: 3 }]);
});

test('two events notify all users whose preferences follow a moved topic', async () => {
  const { owner, administrator: admin, member2 } = realm;
  const id = await send(owner, 'moved', mention(admin, member2));
  const before = await send(owner, 'other', 'x');
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'arrived', propagate_mode: 'change_all' });
  for (const who of [admin, member2])
    expect((await preferencesOf(who)).map(({ topic_name }) => topic_name)).toEqual(
      expect.arrayContaining(['shared', 'arrived']),
    );
  // The owner follows the topics that they began: the event of the old name, the one of the new, and the one of `other`.
  expect(await eventsAfter(before, 'user_topic')).toBe(3);
});

test('messages of others can create only a part of the preferences that a user may have', async () => {
  const { owner, member } = realm;
  const where = `realm_id = ${realm.id} AND user_id = ${member.user_id}`;
  await copyRow({ table: 'messaging.user_topic', where }, 9_999, { topic: "'copy ' || n", topic_key: "'copy ' || n" });
  const queue = await member.queue({ event_types: ['message', 'user_topic'] });
  const id = await send(owner, 'too many', mention(member));
  expect((await queue.next(({ type }) => type === 'message')).message.id).toBe(id);
  await send(member, 'too many of their own', 'x');
  const namesOf = async (): Promise<string[]> => (await preferencesOf(member)).map(({ topic_name }) => topic_name);
  expect((await namesOf()).filter((name) => name.startsWith('too many'))).toEqual([]);
  await member.ok('POST', '/user_topics', { stream_id: at, topic: 'too many', visibility_policy: 3 });
  expect(await namesOf()).toContain('too many');
});

test('a topic mention notifies the senders of the newest 10,000 messages of the topic', async () => {
  const { owner, administrator: admin, member2 } = realm;
  await send(member2, 'long', 'an early message');
  const id = await send(admin, 'long', 'x');
  await copyRow({ table: 'messaging.message', where: `realm_id = ${realm.id} AND id = ${id}` }, 10_000, {
    id: '1000000000 + n',
  });
  const [early, late] = await Promise.all([member2, admin].map((who) => who.queue({ event_types: ['message'] })));
  await send(owner, 'long', '@**topic** hello');
  const flagsIn = async (queue: typeof early): Promise<string[]> => (await queue?.next(() => true))?.flags;
  expect(await flagsIn(late)).toContain('topic_wildcard_mentioned');
  expect(await flagsIn(early)).not.toContain('topic_wildcard_mentioned');
});

test('few events notify all users who muted a moved topic', async () => {
  const { owner, member } = realm;
  const id = await send(owner, 'loud', 'x');
  await member.ok('POST', '/user_topics', { stream_id: at, topic: 'loud', visibility_policy: 1 });
  const where = `realm_id = ${realm.id} AND user_id = ${member.user_id} AND topic_key = 'loud'`;
  await copyRow({ table: 'messaging.user_topic', where }, 1_200, { user_id: '100000000 + n' });
  const queue = await member.queue({ event_types: ['muted_topics'] });
  const before = await send(owner, 'other', 'x');
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'quiet', propagate_mode: 'change_all' });
  expect((await queue.next(() => true)).muted_topics.map(([, topic]: Json) => topic)).toEqual(['quiet']);
  // Two lists of the first 50 users, and one of each further 50.
  await expect.poll(() => eventsAfter(before, 'muted_topics')).toBe(26);
  expect(await eventsAfter(before, 'mutes_ended')).toBe(25);
});

test('lists of muted topics are sent again after a change of a channel only if they depend on it', async () => {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member], { invite_only: true });
  await member.ok('POST', '/user_topics', { stream_id: id, topic: 'noise', visibility_policy: 1 });
  const before = await send(owner, 'other', 'x');
  const queue = await member.queue({ event_types: ['muted_topics'] });
  await owner.ok('PATCH', `/streams/${id}`, { history_public_to_subscribers: true });
  await owner.ok('PATCH', `/streams/${id}`, { new_name: 'with a new name' });
  expect((await queue.next(() => true)).muted_topics.map(([name]: Json) => name)).toContain('with a new name');
  expect(await eventsAfter(before, 'mutes_ended')).toBe(1);
});

test('a user gets one list of muted topics for all changes that follow one another quickly', async () => {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member]);
  const sent = await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 'first', content: 'x' });
  await member.ok('POST', '/user_topics', { stream_id: id, topic: 'first', visibility_policy: 1 });
  const queue = await member.queue({ event_types: ['muted_topics'] });
  const last = await whileConsumerIsHeld(
    { realmId: realm.id, schema: 'messaging', name: 'ended-mutes' },
    60_000,
    async () => {
      const before = await send(owner, 'other', 'x');
      for (const topic of ['second', 'third', 'fourth'])
        await owner.ok('PATCH', `/messages/${sent.id}`, { topic, propagate_mode: 'change_all' });
      expect(await eventsAfter(before, 'mutes_ended')).toBe(3);
      return before;
    },
  );
  const { muted_topics } = await queue.next(() => true);
  expect(muted_topics.map(([, topic]: Json) => topic)).toContain('fourth');
  // A second change shows that no further list was sent.
  await owner.ok('PATCH', `/messages/${sent.id}`, { topic: 'fifth', propagate_mode: 'change_all' });
  await queue.next(() => true);
  expect(await eventsAfter(last, 'muted_topics')).toBe(2);
});
