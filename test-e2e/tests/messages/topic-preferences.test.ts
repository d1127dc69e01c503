import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let channel: number;
beforeAll(async () => {
  realm = await openRealm();
  const principals = [realm.owner.user_id, realm.member.user_id, realm.member2.user_id];
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'prefs' }], principals });
  channel = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'prefs' })).stream_id;
});
const topics = async (): Promise<Json[]> =>
  (await realm.member.ok('POST', '/register', { fetch_event_types: ['user_topic'] })).user_topics.map(
    ({ last_updated, ...rest }: Json) => rest,
  );
const mutes = async (): Promise<Json[]> =>
  (await realm.member.ok('POST', '/register', { fetch_event_types: ['muted_topics'] })).muted_topics.map(
    ([name, topic]: Json) => [name, topic],
  );

test('a preference can be set for any topic in any case, and is removed by policy 0', async () => {
  const { member } = realm;
  const queue = await member.queue({ event_types: ['user_topic', 'muted_topics'] });
  const set = (topic: string, visibility_policy: number) =>
    member.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy });
  await set('Weather', 1);
  expect(await queue.next((event) => event.type === 'user_topic')).toMatchObject({
    stream_id: channel,
    topic_name: 'Weather',
    visibility_policy: 1,
  });
  expect(await mutes()).toEqual([['prefs', 'Weather']]);
  await set('weather', 3);
  expect(await topics()).toEqual([{ stream_id: channel, topic_name: 'Weather', visibility_policy: 3 }]);
  expect(await mutes()).toEqual([]);
  await set('WEATHER', 3);
  await set('weather', 0);
  expect(await topics()).toEqual([]);
  await queue.next((event) => event.visibility_policy === 0);
  const events = queue.seen.filter((event) => event.type === 'user_topic');
  expect(events.map((event) => event.visibility_policy)).toEqual([1, 3, 0]);
});

test('the legacy operation mutes and unmutes a topic of a subscribed channel', async () => {
  const { member } = realm;
  const mute = (form: Record<string, unknown>) => member.patch('/users/me/subscriptions/muted_topics', form);
  expect((await mute({ stream: 'prefs', topic: 'old', op: 'add' })).status).toBe(200);
  expect((await mute({ stream_id: channel, topic: 'OLD', op: 'add' })).status).toBe(200);
  expect(await topics()).toEqual([{ stream_id: channel, topic_name: 'old', visibility_policy: 1 }]);
  expect((await mute({ stream_id: channel, topic: 'old', op: 'remove' })).status).toBe(200);
  expect((await mute({ stream_id: channel, topic: 'old', op: 'remove' })).status).toBe(200);
  expect(await topics()).toEqual([]);
  expect((await mute({ stream_id: 999_999, topic: 'old', op: 'add' })).body.code).toBe('BAD_REQUEST');
});

test('the legacy operation returns the same error for an unsubscribed channel as for a missing one', async () => {
  const { owner, member } = realm;
  const ids: number[] = [];
  for (const [name, invite_only] of [
    ['unheard', true],
    ['unjoined', false],
  ] as const)
    ids.push((await owner.ok('POST', '/channels/create', { name, subscribers: [owner.user_id], invite_only })).id);
  const told = async (form: Json) => {
    const { status, body } = await member.patch('/users/me/subscriptions/muted_topics', {
      topic: 't',
      op: 'add',
      ...form,
    });
    return [status, body.code, body.msg];
  };
  for (const stream of ['unheard', 'unjoined', 'nowhere'])
    expect(await told({ stream })).toEqual([400, 'BAD_REQUEST', `Invalid channel name '${stream}'`]);
  for (const stream_id of [...ids, 999_999])
    expect(await told({ stream_id })).toEqual([400, 'BAD_REQUEST', 'Invalid channel ID']);
  expect((await told({}))[1]).toBe('BAD_REQUEST');
  expect((await told({ stream: 'prefs', stream_id: channel }))[1]).toBe('BAD_REQUEST');
});

test('a preference has the same timestamp in its event and in every later state', async () => {
  const { member } = realm;
  const queue = await member.queue({ event_types: ['user_topic', 'muted_topics'] });
  for (let n = 0; n < 5; n++) {
    await member.ok('POST', '/user_topics', { stream_id: channel, topic: `timed ${n}`, visibility_policy: 1 });
    const event = await queue.next(({ type }) => type === 'user_topic');
    const { user_topics } = await member.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
    const known = user_topics.find((one: Json) => one.topic_name === `timed ${n}`);
    expect(known.last_updated).toBe(event.last_updated);
    await member.ok('POST', '/user_topics', { stream_id: channel, topic: `timed ${n}`, visibility_policy: 0 });
    await queue.next(({ type }) => type === 'user_topic');
  }
});

test.each([
  [{ topic: 'x'.repeat(61), visibility_policy: 1 }],
  [{ topic: 'x', visibility_policy: 4 }],
  [{ topic: 'x', visibility_policy: 1, stream_id: 999_999 }],
])('%j is refused', async (form) => {
  const { status, body } = await realm.member.post('/user_topics', { stream_id: channel, ...form });
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
});

test('a user follows a topic that they start or in which they are mentioned', async () => {
  const { owner, member, member2 } = realm;
  const begun = await member.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'begun', content: 'x' });
  expect(begun.automatic_new_visibility_policy).toBe(3);
  const later = await member2.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'begun', content: 'x' });
  expect(later.automatic_new_visibility_policy).toBeUndefined();
  await owner.ok('POST', '/messages', {
    type: 'channel',
    to: channel,
    topic: 'called',
    content: `@**${member.full_name}**`,
  });
  expect(await topics()).toEqual([
    { stream_id: channel, topic_name: 'begun', visibility_policy: 3 },
    { stream_id: channel, topic_name: 'called', visibility_policy: 3 },
  ]);
});

test('a preference follows a topic that is moved as a whole', async () => {
  const { owner, member } = realm;
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'before', content: 'x' });
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: 'before', visibility_policy: 2 });
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'after', propagate_mode: 'change_all' });
  const names = (await topics()).filter((topic) => topic.visibility_policy === 2).map((topic) => topic.topic_name);
  expect(names).toEqual(['after']);
});

test('a preference stays when its topic gets a name that the database takes for the same', async () => {
  const { owner, member } = realm;
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'İzmir', content: 'x' });
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: 'İzmir', visibility_policy: 1 });
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'izmir', propagate_mode: 'change_all' });
  const kept = (await topics()).filter(({ topic_name }) => topic_name.toLowerCase().endsWith('zmir'));
  expect(kept.map(({ visibility_policy }) => visibility_policy)).toEqual([1]);
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: kept[0]?.topic_name, visibility_policy: 0 });
});

test.each([
  [1, 0, 0],
  [0, 1, 0],
  [1, 1, 1],
  [2, 1, 2],
  [1, 3, 3],
  [3, 2, 3],
])('merging a topic with policy %i into one with policy %i results in policy %i', async (here, there, after) => {
  const { owner, member } = realm;
  const [from, to] = [`merged from ${here} ${there}`, `merged into ${here} ${there}`];
  const send = async (topic: string): Promise<number> =>
    (await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic, content: 'x' })).id;
  const [id] = [await send(from), await send(to)];
  for (const [topic, visibility_policy] of [
    [from, here],
    [to, there],
  ])
    if (visibility_policy !== 0)
      await member.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy });
  await owner.ok('PATCH', `/messages/${id}`, { topic: to, propagate_mode: 'change_all' });
  const found = (await topics()).filter(({ topic_name }) => [from, to].includes(topic_name));
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: to, visibility_policy: 0 });
  expect(found).toEqual(after === 0 ? [] : [{ stream_id: channel, topic_name: to, visibility_policy: after }]);
});

test('clients with only muted_topics receive an event when a message of the user ends a mute', async () => {
  const { member } = realm;
  const queue = await member.queue({ event_types: ['muted_topics', 'message'] });
  const isList = (event: Json): boolean => event.type === 'muted_topics';
  const set = (topic: string) => member.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy: 1 });
  await set('ends');
  expect((await queue.next(isList)).muted_topics).toEqual([['prefs', 'ends', expect.any(Number)]]);
  await member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  await member.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'ends', content: 'I write' });
  expect((await queue.next(isList)).muted_topics).toEqual([]);
  expect(await mutes()).toEqual([]);
});

test('a mention does not unmute a muted topic', async () => {
  const { member, owner } = realm;
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: 'muted', visibility_policy: 1 });
  const queue = await member.queue({ event_types: ['user_topic', 'message'] });
  const content = `@**${member.full_name}**`;
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'muted', content });
  await queue.settle();
  const told = queue.seen.filter((event) => event.type === 'user_topic' || event.message.id === id);
  expect(told.map((event) => event.flags)).toEqual([['mentioned']]);
  expect(await topics()).toContainEqual({ stream_id: channel, topic_name: 'muted', visibility_policy: 1 });
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: 'muted', visibility_policy: 0 });
});

test('events of a preference keep the first spelling of its topic', async () => {
  const { member, owner } = realm;
  await member.ok('PATCH', '/settings', { automatically_follow_topics_policy: 1 });
  const queue = await member.queue({ event_types: ['user_topic'] });
  const set = (topic: string, visibility_policy: number) =>
    member.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy });
  const named = async (): Promise<[Json, Json[]]> => {
    const { topic_name, visibility_policy } = await queue.next((event) => event.visibility_policy === 3);
    const known = (await topics()).filter((one) => one.topic_name.toLowerCase() === topic_name.toLowerCase());
    return [{ stream_id: channel, topic_name, visibility_policy }, known];
  };
  await set('First Name', 1);
  await member.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'first name', content: 'I write' });
  const [written, known] = await named();
  expect([[written], written.topic_name]).toEqual([known, 'First Name']);
  await set('Second Name', 2);
  const content = `@**${member.full_name}**`;
  await owner.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'second name', content });
  const [called, follows] = await named();
  expect([[called], called.topic_name]).toEqual([follows, 'Second Name']);
});

test('a muted empty topic has its display name for clients without empty_topic_name', async () => {
  const { member } = realm;
  const queues = await Promise.all(
    [false, true].map((empty_topic_name) =>
      member.queue({ event_types: ['muted_topics'], client_capabilities: { empty_topic_name } }),
    ),
  );
  await member.ok('POST', '/user_topics', { stream_id: channel, topic: '', visibility_policy: 1 });
  for (const [index, name] of ['general chat', ''].entries()) {
    const event = await queues[index]?.next(() => true);
    expect(event.muted_topics).toEqual([['prefs', name, expect.any(Number)]]);
    const state = await member.ok('POST', '/register', {
      fetch_event_types: ['muted_topics'],
      client_capabilities: { empty_topic_name: index === 1 },
    });
    expect(state.muted_topics).toEqual(event.muted_topics);
  }
  await member.ok('PATCH', '/users/me/subscriptions/muted_topics', {
    stream_id: channel,
    topic: 'general chat',
    op: 'remove',
  });
  expect(await mutes()).toEqual([]);
});

test('muted topics of a private channel that the user left are not listed until they return', async () => {
  const { owner } = realm;
  const member = await realm.person();
  const principals = [owner.user_id, member.user_id];
  for (const name of ['left', 'kept'])
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals, invite_only: true });
  const idOf = async (stream: string): Promise<number> =>
    (await owner.ok('GET', '/get_stream_id', { stream })).stream_id;
  const [left, kept] = [await idOf('left'), await idOf('kept')];
  const mute = (stream_id: number, topic: string): Promise<Json> =>
    member.ok('POST', '/user_topics', { stream_id, topic, visibility_policy: 1 });
  await mute(left, 'noise');
  const queue = await member.queue({ event_types: ['muted_topics'], fetch_event_types: [] });
  const next = async (): Promise<Json> => (await queue.next(() => true)).muted_topics;
  const listed = async (): Promise<Json[]> =>
    (await member.ok('POST', '/register', { fetch_event_types: ['muted_topics'] })).muted_topics;
  await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['left'], principals: [member.user_id] });
  expect(await next()).toEqual([]);
  expect(await listed()).toEqual([]);
  // The user does not learn that the channel changed.
  await owner.ok('PATCH', `/streams/${left}`, { new_name: 'merger' });
  await mute(kept, 'more');
  const only = [['kept', 'more', expect.any(Number)]];
  expect(await next()).toEqual(only);
  expect(await listed()).toEqual(only);
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'merger' }],
    principals: [member.user_id],
  });
  expect((await next()).map(([name]: Json) => name)).toEqual(['merger', 'kept']);
  expect((await listed()).map(([name]) => name)).toEqual(['merger', 'kept']);
});

test('clients with only muted_topics receive an event when a channel changes that the list names, or who may read it', async () => {
  const { owner } = realm;
  const member = await realm.person();
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'listed' }] });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'listed' });
  await member.ok('POST', '/user_topics', { stream_id, topic: 'noise', visibility_policy: 1 });
  const queue = await member.queue({ event_types: ['muted_topics'], fetch_event_types: [] });
  const change = (form: Record<string, unknown>): Promise<Json> => owner.ok('PATCH', `/streams/${stream_id}`, form);
  const changes: [() => Promise<Json>, string[]][] = [
    [() => change({ new_name: 'renamed' }), ['renamed']],
    [() => owner.ok('PATCH', `/users/${member.user_id}`, { role: 600 }), []],
    [() => owner.ok('PATCH', `/users/${member.user_id}`, { role: 400 }), ['renamed']],
    [() => owner.ok('DELETE', `/streams/${stream_id}`), []],
    [() => change({ is_archived: false }), ['renamed']],
    [() => change({ is_private: true }), []],
    [() => change({ is_private: false }), ['renamed']],
  ];
  for (const [apply, names] of changes) {
    await apply();
    expect((await queue.next(() => true)).muted_topics.map(([name]: Json) => name)).toEqual(names);
    const { muted_topics } = await member.ok('POST', '/register', { fetch_event_types: ['muted_topics'] });
    expect(muted_topics.map(([name]: Json) => name)).toEqual(names);
  }
});

test('a moved topic sends muted_topics only to users who muted it', async () => {
  const { owner } = realm;
  const [follower, muter] = [await realm.person(), await realm.person()];
  const principals = [owner.user_id, follower.user_id, muter.user_id];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'prefs' }], principals });
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: 'prefs', topic: 'old name', content: 'x' });
  const prefer = (who: Client, topic: string, visibility_policy: number) =>
    who.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy });
  await prefer(follower, 'old name', 3);
  await prefer(muter, 'old name', 1);
  const lists = await Promise.all(
    [follower, muter].map((who) => who.queue({ event_types: ['muted_topics'], fetch_event_types: [] })),
  );
  const all = await follower.queue({ event_types: ['user_topic'], fetch_event_types: [] });
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'new name', propagate_mode: 'change_all' });
  await all.next(({ topic_name }) => topic_name === 'new name');
  expect(all.seen.map((event) => [event.topic_name, event.visibility_policy])).toEqual([
    ['old name', 0],
    ['new name', 3],
  ]);
  const mutesOf = async (index: number): Promise<Json[]> =>
    (await lists[index]?.next(() => true))?.muted_topics.map(([, topic]: Json) => topic);
  expect(await mutesOf(1)).toEqual(['new name']);
  await prefer(follower, 'another', 1);
  expect(await mutesOf(0)).toEqual(['another']);
  expect(lists[0]?.seen).toHaveLength(1);
});

test.each([1, 2])('the first message of a topic leaves the policy %i that its author set before', async (policy) => {
  const { member2 } = realm;
  const topic = `set before ${policy}`;
  await member2.ok('POST', '/user_topics', { stream_id: channel, topic, visibility_policy: policy });
  const form = { type: 'channel', to: channel, topic, content: 'x' };
  expect((await member2.ok('POST', '/messages', form)).automatic_new_visibility_policy).toBeUndefined();
  const { user_topics } = await member2.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  expect(user_topics.find((one: Json) => one.topic_name === topic).visibility_policy).toBe(policy);
});
