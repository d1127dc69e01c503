import { type Client, connected, countOf, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { behindRows, lockRows } from '../../held-rows.ts';
import { channel, nameOf } from '../channels/setting.ts';
import { whileConsumerIsHeld } from '../held-consumer.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const send = async (to: number, topic: string): Promise<number> =>
  (await realm.owner.ok('POST', '/messages', { type: 'channel', to, topic, content: 'hello' })).id;
const isChange = ({ type }: Json): boolean => ['update_message', 'delete_message', 'user_topic'].includes(type);
const capable = { client_capabilities: { bulk_message_deletion: true } };

test('a move to a private channel stays visible to members of can_subscribe_group, and deletes for other users', async () => {
  const { owner, member, member2 } = realm;
  const from = await channel(owner, [owner, member, member2]);
  const to = await channel(owner, [owner], {
    invite_only: true,
    can_subscribe_group: { direct_members: [member.user_id], direct_subgroups: [] },
  });
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
  const from = await channel(owner, [owner, member, guest]);
  const to = await channel(owner, [owner]);
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
  const from = await channel(owner, [owner, member], form);
  const to = await channel(owner, [owner, member], { invite_only: true });
  const first = await send(from, 'gold');
  const name = await nameOf(owner, from);
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [member2.user_id] });
  const last = await send(from, 'gold');
  const queue = await member2.queue(capable);
  await owner.ok('PATCH', `/messages/${first}`, { stream_id: to, propagate_mode: 'change_all' });
  expect((await queue.settle()).filter(isChange)).toMatchObject([{ type: 'delete_message', stream_id: from }]);
  const { unread_msgs } = await member2.ok('POST', '/register');
  expect(unread_msgs.streams.flatMap((one: Json) => one.unread_message_ids)).not.toContain(last);
});

test('a preference in a channel that its user may not read is removed, and none is set there', async () => {
  const { owner, member2 } = realm;
  const at = await channel(owner, [owner, member2], { invite_only: true });
  const prefer = (stream_id: number, visibility_policy: number, headers = {}) =>
    member2.post('/user_topics', { stream_id, topic: 'left', visibility_policy }, headers);
  expect((await prefer(at, 3)).status).toBe(200);
  const subscriptions = [await nameOf(owner, at)];
  await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions, principals: [member2.user_id] });
  const key = { 'idempotency-key': 'removal' };
  for (let sent = 0; sent < 2; sent++) expect((await prefer(at, 0, key)).status).toBe(200);
  for (const [stream_id, policy] of [
    [at, 0],
    [at, 1],
    [2 ** 30, 0],
  ] as const) {
    const { status, body } = await prefer(stream_id, policy);
    expect([status, body.msg]).toEqual([400, 'Invalid channel ID']);
  }
});

/** Waits until lists of muted topics are sent for all changes so far: another user gets one for a later change. */
async function listsAreSent(): Promise<void> {
  const { owner, member2 } = realm;
  const at = await channel(owner, [owner, member2]);
  const id = await send(at, 'last');
  await member2.ok('POST', '/user_topics', { stream_id: at, topic: 'last', visibility_policy: 1 });
  const queue = await member2.queue({ event_types: ['muted_topics'], fetch_event_types: [] });
  await owner.ok('PATCH', `/messages/${id}`, { topic: 'sent', propagate_mode: 'change_all' });
  await queue.next(({ muted_topics }) => muted_topics.some(([, topic]: Json) => topic === 'sent'));
}

test('the preferences of a former subscriber of a private channel do not tell that their topics move', async () => {
  const { owner, member } = realm;
  const at = await channel(owner, [owner, member], { invite_only: true });
  const name = await nameOf(owner, at);
  const id = await send(at, 'followed');
  const target = await send(at, 'muted');
  await member.ok('POST', '/user_topics', { stream_id: at, topic: 'followed', visibility_policy: 3 });
  await member.ok('POST', '/user_topics', { stream_id: at, topic: 'muted', visibility_policy: 1 });
  const former = await member.queue({ event_types: ['muted_topics'], fetch_event_types: [] });
  await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals: [member.user_id] });
  expect((await former.next(() => true)).muted_topics).toEqual([]);
  const queue = await member.queue({ event_types: ['user_topic', 'muted_topics', 'message'] });
  const preferences = async (): Promise<Json> => (await member.ok('POST', '/register')).user_topics;
  const before = await preferences();
  const rename = (message: number, topic: string) =>
    owner.ok('PATCH', `/messages/${message}`, {
      topic,
      propagate_mode: 'change_all',
      send_notification_to_new_thread: false,
    });
  await rename(id, '✔ followed');
  await rename(id, 'muted');
  await rename(target, 'elsewhere');
  await listsAreSent();
  const isTold = ({ type }: Json) => ['user_topic', 'muted_topics'].includes(type);
  expect((await queue.settle()).filter(isTold)).toEqual([]);
  expect(await preferences()).toEqual(before);
});

test('former subscribers of a public channel receive changes of messages that they received, except guests, and of no later ones', async () => {
  const { owner, member, guest } = realm;
  const at = await channel(owner, [owner, member, guest]);
  const closed = await channel(owner, [owner], { invite_only: true });
  const [kept, deleted, moved] = [await send(at, 'kept'), await send(at, 'deleted'), await send(at, 'moved')];
  const principals = [member.user_id, guest.user_id];
  const subscriptions = [await nameOf(owner, at)];
  await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions, principals });
  const ofGone = `realm_id = ${realm.id} AND channel_id = ${at} AND user_id = ANY('{${principals}}')`;
  await expect.poll(() => countOf('messaging.subscription_period', `${ofGone} AND to_id IS NULL`)).toBe(0);
  const later = await send(at, 'later');
  const queues = await Promise.all([member, guest].map((who) => who.queue(capable)));
  for (const id of [later, kept]) {
    await owner.ok('PATCH', `/messages/${id}`, { content: 'changed' });
    await owner.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'smile' });
  }
  for (const id of [later, deleted]) await owner.ok('DELETE', `/messages/${id}`);
  await owner.ok('PATCH', `/messages/${moved}`, { stream_id: closed });
  const [received, ofGuest] = await Promise.all(queues.map((queue) => queue.settle()));
  const changes = (events: Json[] = []) =>
    events.flatMap(({ type, message_id, message_ids }) =>
      ['update_message', 'reaction', 'delete_message'].includes(type) ? [[type, message_id ?? message_ids[0]]] : [],
    );
  expect(changes(received)).toEqual([
    ['update_message', kept],
    ['reaction', kept],
    ['delete_message', deleted],
    ['delete_message', moved],
  ]);
  expect(changes(ofGuest)).toEqual([]);
});

describe('a change beside users who have the message without a subscription', () => {
  const whileHeld = <R>(name: string, ms: number, work: (isHeld: () => boolean) => Promise<R>): Promise<R> =>
    whileConsumerIsHeld({ realmId: realm.id, schema: 'messaging', name }, ms, work);
  /** A request waits for all consumers for three seconds, before it decides with the projections as they are. */
  const longerThanRequestsWait = 12_000;
  const leave = async (at: number, who: Client) =>
    realm.owner.ok('DELETE', '/users/me/subscriptions', {
      subscriptions: [await nameOf(realm.owner, at)],
      principals: [who.user_id],
    });
  /** A message in a public channel that this user received, and left. */
  async function leftBy(former: Client): Promise<{ at: number; id: number }> {
    const at = await channel(realm.owner, [realm.owner, former]);
    const id = await send(at, 'left');
    await leave(at, former);
    const open = `realm_id = ${realm.id} AND channel_id = ${at} AND user_id = ${former.user_id} AND to_id IS NULL`;
    await expect.poll(() => countOf('messaging.subscription_period', open)).toBe(0);
    return { at, id };
  }
  const react = (id: number) => realm.owner.send('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
  const reactions = ({ type }: Json): boolean => type === 'reaction';

  test('does not wait for other changes of people', async () => {
    const { owner, member2 } = realm;
    const former = await realm.person();
    const { id } = await leftBy(former);
    const to = await channel(owner, [owner]);
    const queue = await former.queue(capable);
    const answers = await whileHeld('notices', 60_000, async (isHeld) => {
      await owner.ok('PATCH', `/users/${member2.user_id}`, { full_name: 'Renamed Beside' });
      await owner.ok('PATCH', `/users/${member2.user_id}`, { role: 300 });
      const reacted = await react(id);
      const form = { stream_id: to, send_notification_to_new_thread: false };
      const moved = await owner.send('PATCH', `/messages/${id}`, form);
      return [reacted.status, moved.status, isHeld()];
    });
    await owner.ok('PATCH', `/users/${member2.user_id}`, { role: 400 });
    expect(answers).toEqual([200, 200, true]);
    const told = (await queue.settle()).filter((event) => reactions(event) || isChange(event));
    expect(told).toMatchObject([{ type: 'reaction' }, { type: 'update_message', new_stream_id: to }]);
  });

  test.each([
    ['became a guest', 400, 600, 0],
    ['is no longer a guest', 600, 400, 1],
  ])('waits until messaging knows that one of them %s', async (_, before, role, count) => {
    const { owner } = realm;
    const former = await realm.person();
    await owner.ok('PATCH', `/users/${former.user_id}`, { role: before });
    const { id } = await leftBy(former);
    const queue = await former.queue(capable);
    const answer = await whileHeld('notices', longerThanRequestsWait, async (isHeld) => {
      await owner.ok('PATCH', `/users/${former.user_id}`, { role });
      return [(await react(id)).status, isHeld()];
    });
    expect(answer).toEqual([200, false]);
    expect((await queue.settle()).filter(reactions)).toHaveLength(count);
  });

  test('does not reach one of them who becomes a guest during its transaction', async () => {
    const { owner } = realm;
    const former = await realm.person();
    const { at, id } = await leftBy(former);
    const to = await channel(owner, [owner]);
    const queue = await former.queue(capable);
    const form = { stream_id: to, send_notification_to_new_thread: false };
    const [moved] = await behindRows(
      // The move takes this lock when it has decided who receives it.
      { ...lockRows('channel-begin', at), services: ['messaging'] },
      [() => owner.send('PATCH', `/messages/${id}`, form)],
      () => owner.ok('PATCH', `/users/${former.user_id}`, { role: 600 }),
    );
    expect(moved?.status).toBe(200);
    expect((await queue.settle()).filter(isChange)).toEqual([]);
  });

  test('does not wait for events that consumers skip', async () => {
    const former = await realm.person();
    const { id } = await leftBy(former);
    const person = { user_id: former.user_id, role: 600 };
    const shown = { type: 'realm_user', op: 'add', body: { person }, audience: { users: { ids: [] } } };
    const many = JSON.stringify(Array.from({ length: 11_000 }, () => ({ ...shown, isForClientsOnly: true })));
    const answer = await whileHeld('notices', 60_000, async (isHeld) => {
      await connected((client) => client.query("SELECT log.append($1, '{}', '{}', 'users', $2)", [realm.id, many]));
      return [(await react(id)).status, isHeld()];
    });
    expect(answer).toEqual([200, true]);
  });

  test('reaches a user who has just left, without waiting', async () => {
    const former = await realm.person();
    const at = await channel(realm.owner, [realm.owner, former]);
    const id = await send(at, 'left');
    await react(await send(at, 'before'));
    const queue = await former.queue(capable);
    const answer = await whileHeld('periods', 60_000, async (isHeld) => {
      await leave(at, former);
      const later = await send(at, 'later');
      return [(await react(later)).status, (await react(id)).status, isHeld()];
    });
    expect(answer).toEqual([200, 200, true]);
    expect((await queue.settle()).filter(reactions)).toMatchObject([{ message_id: id }]);
  });

  test('reaches a user whose subscription to the channel from which it was moved is late', async () => {
    const { owner } = realm;
    const reader = await realm.person();
    const [from, to] = [await channel(owner, [owner]), await channel(owner, [owner])];
    const form = { subscriptions: [{ name: await nameOf(owner, from) }], principals: [reader.user_id] };
    const queue = await reader.queue(capable);
    const moved = await whileHeld('periods', 240_000, async () => {
      await owner.ok('POST', '/users/me/subscriptions', form);
      const ids = [await send(from, 'moved'), await send(from, 'moved')];
      for (const id of ids)
        await owner.ok('PATCH', `/messages/${id}`, { stream_id: to, send_notification_to_new_thread: false });
      await owner.ok('PATCH', `/messages/${ids[0]}`, { content: 'changed' });
      await leave(from, reader);
      await owner.ok('DELETE', `/messages/${ids[1]}`);
      return ids;
    });
    const changes = (await queue.settle()).filter(isChange);
    expect(changes.map(({ type, message_ids }) => [type, ...message_ids])).toEqual([
      ...moved.map((id) => ['update_message', id]),
      ['update_message', moved[0]],
      ['delete_message', moved[1]],
    ]);
  });
});
