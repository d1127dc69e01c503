import { Client, connected, type Json, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, openQuietRealm } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  at = await channel(realm.owner, [realm.owner, realm.member, realm.member2]);
});

let count = 0;
const fresh = (): string => `topic ${++count}`;
const send = async (who: Client, topic: string, to = at): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic, content: 'hello' })).id;
/** A message in the middle of a topic that the owner began. */
async function middle(who: Client): Promise<number> {
  const topic = fresh();
  await send(realm.owner, topic);
  const id = await send(who, topic);
  await send(realm.owner, topic);
  return id;
}
const split = (id: number, topic: string, form: Json = {}): Promise<Json> =>
  realm.owner.ok('PATCH', `/messages/${id}`, { topic, ...form });
async function policyOf(who: Client, topic: string, to = at): Promise<number | undefined> {
  const { user_topics } = await who.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  return user_topics.find((one: Json) => one.stream_id === to && one.topic_name === topic)?.visibility_policy;
}

test.each(['change_one', 'change_later'])(
  'the author follows a topic that %s starts with their message',
  async (propagate_mode) => {
    const { owner, member, member2 } = realm;
    const queue = await member.queue({ event_types: ['user_topic'], fetch_event_types: [] });
    const topic = fresh();
    await split(await middle(member), topic, { propagate_mode });
    expect(await queue.next(() => true)).toMatchObject({ stream_id: at, topic_name: topic, visibility_policy: 3 });
    const policies = [await policyOf(member, topic), await policyOf(member2, topic), await policyOf(owner, topic)];
    expect(policies).toEqual([3, undefined, undefined]);
  },
);

test('the author does not follow a topic that has earlier messages', async () => {
  const { owner, member, member2 } = realm;
  const topic = fresh();
  const [early, first, late] = [await middle(member), await middle(owner), await middle(member2)];
  for (const id of [first, late]) await split(id, topic);
  expect(await policyOf(member2, topic)).toBeUndefined();
  await split(early, topic);
  expect(await policyOf(member, topic)).toBe(3);
});

test('messages that the author cannot see do not count as earlier messages', async () => {
  const { owner } = realm;
  const latecomer = await realm.person();
  const vault = await channel(owner, [owner], { invite_only: true, history_public_to_subscribers: false });
  const [from, into] = [fresh(), fresh()];
  for (const topic of [from, into]) await send(owner, topic, vault);
  const { stream } = await owner.ok('GET', `/streams/${vault}`);
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: stream.name }],
    principals: [latecomer.user_id],
  });
  await split(await send(latecomer, from, vault), into);
  expect(await policyOf(latecomer, into, vault)).toBe(3);
});

test('settings decide whether the author follows or unmutes the topic', async () => {
  const { owner } = realm;
  const [never, unmutes] = [await realm.person(), await realm.person()];
  const { stream } = await owner.ok('GET', `/streams/${at}`);
  for (const who of [never, unmutes]) {
    await who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: stream.name }] });
    await who.ok('PATCH', '/settings', { automatically_follow_topics_policy: 4 });
  }
  const muted = [{ stream_id: at, property: 'is_muted', value: true }];
  await unmutes.ok('POST', '/users/me/subscriptions/properties', { subscription_data: muted });
  const topics = [fresh(), fresh()] as const;
  await split(await middle(never), topics[0]);
  await split(await middle(unmutes), topics[1]);
  expect([await policyOf(never, topics[0]), await policyOf(unmutes, topics[1])]).toEqual([undefined, 2]);
});

test.each([1, 2])('a topic for which its author set the policy %i keeps it', async (policy) => {
  const { member } = realm;
  const topic = fresh();
  await member.ok('POST', '/user_topics', { stream_id: at, topic, visibility_policy: policy });
  const queue = await member.queue({ event_types: ['message', 'muted_topics', 'user_topic'], fetch_event_types: [] });
  await split(await middle(member), topic);
  expect((await queue.settle()).filter(({ type }) => type !== 'message')).toEqual([]);
  expect(await policyOf(member, topic)).toBe(policy);
});

test('bots and authors who may not read the new channel do not get a preference', async () => {
  const { owner, member } = realm;
  const made = await owner.ok('POST', '/bots', { full_name: 'Robot', short_name: 'robot' });
  const bot = new Client(owner, { ...made, full_name: 'Robot', email: `robot-bot@${realm.host}` });
  const mayJoin = { direct_members: [member.user_id], direct_subgroups: [] };
  const vault = await channel(owner, [owner], { invite_only: true });
  const shared = await channel(owner, [owner], { invite_only: true, can_subscribe_group: mayJoin });
  const [hidden, open, mechanical] = [fresh(), fresh(), fresh()];
  await split(await middle(member), hidden, { stream_id: vault });
  await split(await middle(member), open, { stream_id: shared });
  await split(await middle(bot), mechanical);
  const stored = await connected((client) =>
    client.query('SELECT user_id, topic FROM messaging.user_topic WHERE realm_id = $1 AND topic = ANY ($2)', [
      realm.id,
      [hidden, open, mechanical],
    ]),
  );
  expect(stored.rows).toEqual([{ user_id: member.user_id, topic: open }]);
});
