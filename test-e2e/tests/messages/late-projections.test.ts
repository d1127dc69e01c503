import { Client, connected, countOf, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, systemGroups } from '../channels/setting.ts';
import { whileConsumerIsHeld } from '../held-consumer.ts';
import { uploadTo } from '../upload.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

/** Runs `work` while this consumer applies no events, for this time at most. */
const whileHeld = <R>(
  schema: string,
  name: string,
  ms: number,
  work: (isHeld: () => boolean) => Promise<R>,
): Promise<R> => whileConsumerIsHeld({ realmId: realm.id, schema, name }, ms, work);
/** How long the oldest transaction of messaging runs. */
const longestTransactionMs = (): Promise<number> =>
  connected(async (observer) => {
    const { rows } = await observer.query<{ ms: number }>(`
      SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 * 1000 AS ms
      FROM pg_stat_activity WHERE usename = 'natter_messaging'`);
    return rows[0]?.ms ?? 0;
  });
/** The same, and how long transactions of messaging ran meanwhile: requests must not wait in them. */
async function whileHeldAndWatched<R>(schema: string, name: string, ms: number, work: () => Promise<R>) {
  let longestMs = 0;
  const result = await whileHeld(schema, name, ms, async (isHeld) => {
    const done = work();
    for (; isHeld(); await new Promise((resolve) => setTimeout(resolve, 50)))
      longestMs = Math.max(longestMs, await longestTransactionMs());
    return done;
  });
  return { result, longestMs };
}
const nameOf = async (id: number): Promise<string> => (await realm.owner.ok('GET', `/streams/${id}`)).stream.name;

test('the queue of a bot follows its default channel under the name that a change has just given to it', async () => {
  const { owner } = realm;
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name: 'Listener', short_name: 'listener' });
  const { user } = await owner.ok('GET', `/users/${user_id}`);
  const bot = new Client(owner, { user_id, api_key, email: user.email, full_name: user.full_name });
  const id = await channel(owner, [owner, bot]);
  await owner.ok('PATCH', `/bots/${user_id}`, { default_events_register_stream: await nameOf(id) });
  const queue = await whileHeld('users', 'bot-default-channels', 500, async () => {
    await owner.ok('PATCH', `/streams/${id}`, { new_name: 'renamed just now' });
    return bot.queue({});
  });
  const sent = await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 't', content: 'for the bot' });
  const { message } = await queue.next(({ type }: Json) => type === 'message');
  expect(message.id).toBe(sent.id);
});

test('a bot that has just become a guest does not receive a message of a public channel that mentions it', async () => {
  const { owner, member } = realm;
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name: 'Demoted', short_name: 'demoted' });
  const { user } = await owner.ok('GET', `/users/${user_id}`);
  const bot = new Client(owner, { user_id, api_key, email: user.email, full_name: user.full_name });
  const to = await channel(owner, [owner, member]);
  const queue = await bot.queue({ event_types: ['message'] });
  const mention = (topic: string) =>
    member.send('POST', '/messages', { type: 'channel', to, topic, content: '@**Demoted** hello' });
  expect((await mention('before')).status).toBe(200);
  const { status } = await whileHeld('messaging', 'notices', 4_000, async () => {
    await owner.ok('PATCH', `/bots/${user_id}`, { role: 600 });
    return mention('after');
  });
  expect(status).toBe(200);
  expect((await queue.settle()).map(({ message }) => message.subject)).toEqual(['before']);
});

test('the former owner of a bot that was just given away does not unsubscribe it', async () => {
  const { owner, member, member2 } = realm;
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Given', short_name: 'given' });
  const id = await channel(owner, [owner, member]);
  const form = { subscriptions: [await nameOf(id)], principals: [user_id] };
  await member.ok('POST', '/users/me/subscriptions', { ...form, subscriptions: [{ name: form.subscriptions[0] }] });
  const { status } = await whileHeld('channels', 'people', 4_000, async () => {
    await owner.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: member2.user_id });
    return member.send('DELETE', '/users/me/subscriptions', form);
  });
  expect(status).toBe(400);
  expect((await member2.send('DELETE', '/users/me/subscriptions', form)).status).toBe(200);
});

/** In the longer time, what the guest may see is outdated for longer than reads wait for it. */
test.each([500, 12_000])(
  'a limited guest may write to people of a channel once both are in it, %i ms late',
  async (ms) => {
    const { owner, guest } = realm;
    const groups = await systemGroups(realm);
    await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: groups['role:members'] } });
    const id = await channel(owner, [owner, guest]);
    const friend = await realm.person();
    const stranger = await realm.person();
    const write = (to: number) => guest.send('POST', '/messages', { type: 'direct', to: [to], content: 'hello' });
    // The realm's limit applies when this is refused.
    await expect.poll(async () => (await write(stranger.user_id)).status).toBe(400);
    const name = await nameOf(id);
    const status = await whileHeld('users', 'acquaintance', ms, async () => {
      await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [friend.user_id] });
      await guest.ok('GET', '/messages', { anchor: 'newest', num_before: 1, num_after: 0 });
      return (await guest.post('/messages', { type: 'direct', to: [friend.user_id], content: 'hello' })).status;
    });
    expect(status).toBe(200);
  },
);

test('a subscriber gets the changes of the first messages of a channel with protected history', async () => {
  const { owner } = realm;
  const reader = await realm.person();
  const id = await channel(owner, [owner], { invite_only: true, history_public_to_subscribers: false });
  const name = await nameOf(id);
  const queue = await reader.queue({ event_types: ['message', 'update_message', 'delete_message'] });
  const send = (content: string) => owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 't', content });
  const { result: changes, longestMs } = await whileHeldAndWatched('messaging', 'periods', 8_000, async () => {
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [reader.user_id] });
    const [edited, deleted] = [await send('first'), await send('second')];
    return Promise.all([
      owner.send('PATCH', `/messages/${edited.id}`, { content: 'changed' }),
      owner.send('DELETE', `/messages/${deleted.id}`),
    ]);
  });
  expect(changes.map(({ status }) => status)).toEqual([200, 200]);
  expect(longestMs).toBeLessThan(2_000);
  const types = (await queue.settle()).map(({ type }) => type);
  expect([types.includes('update_message'), types.includes('delete_message')]).toEqual([true, true]);
});

test('a change of a message with flags of a user waits for the role of the user outside of a transaction', async () => {
  const { owner } = realm;
  const reader = await realm.person();
  const id = await channel(owner, [owner]);
  const sent = await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 't', content: 'x' });
  await reader.ok('POST', '/messages/flags', { messages: `[${sent.id}]`, op: 'add', flag: 'starred' });
  const { result, longestMs } = await whileHeldAndWatched('messaging', 'notices', 8_000, async () => {
    await owner.ok('PATCH', `/users/${reader.user_id}`, { role: 300 });
    return owner.send('PATCH', `/messages/${sent.id}`, { content: 'changed' });
  });
  expect(result.status).toBe(200);
  expect(longestMs).toBeLessThan(2_000);
});

test('a register that shows no unread messages does not wait for subscriptions', async () => {
  const { owner } = realm;
  const reader = await realm.person();
  const id = await channel(owner, [owner]);
  const name = await nameOf(id);
  const register = (form: Record<string, string[]>, by = reader) => by.send('POST', '/register', form);
  const answers = await whileHeld('messaging', 'periods', 240_000, async (isHeld) => {
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [reader.user_id] });
    await owner.ok('PATCH', `/streams/${id}`, { new_name: `${name} renamed` });
    const some = await register({ fetch_event_types: ['starred_messages', 'drafts'] });
    const all = await register({}, owner);
    return [some.status, all.status, isHeld()];
  });
  expect(answers).toEqual([200, 200, true]);
});

test.each<[string, string, (id: number) => Promise<unknown>]>([
  ['lists of muted topics', 'ended-mutes', (id) => realm.owner.ok('PATCH', `/streams/${id}`, { new_name: 'new name' })],
  [
    'events about the files of messages',
    'attachment-references',
    async (to) => {
      const { url } = (await uploadTo(realm.owner, '/user_uploads')).body;
      await realm.owner.ok('POST', '/messages', { type: 'channel', to, topic: 't', content: `[file](${url})` });
    },
  ],
])('no request waits until %s are sent', async (_, consumer, change) => {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member]);
  await member.ok('POST', '/user_topics', { stream_id: id, topic: 'noise', visibility_policy: 1 });
  const answer = await whileHeld('messaging', consumer, 240_000, async (isHeld) => {
    await change(id);
    const { status } = await member.send('GET', '/messages/1000000000');
    return [status, isHeld()];
  });
  expect(answer).toEqual([400, true]);
});

test('changes of messages, and registers, do not wait for subscriptions of other channels and people', async () => {
  const { id: realmId, owner } = realm;
  const reader = await realm.person();
  const at = await channel(owner, [owner, reader], { invite_only: true, history_public_to_subscribers: false });
  const other = await channel(owner, [owner], { invite_only: true, history_public_to_subscribers: false });
  const name = await nameOf(other);
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: at, topic: 't', content: 'x' });
  const queue = await reader.queue({ event_types: ['reaction'] });
  const subscribed = { type: 'subscription', op: 'peer_add', body: {}, audience: { users: { ids: [] } } };
  const many = JSON.stringify(Array.from({ length: 1_500 }, () => subscribed));
  const answers = await whileHeld('messaging', 'periods', 240_000, async (isHeld) => {
    const principals = [(await realm.person()).user_id];
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals });
    await connected((client) => client.query("SELECT log.append($1, '{}', '{}', 'channels', $2)", [realmId, many]));
    const changed = await owner.send('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
    const registered = await reader.send('POST', '/register', {});
    return [changed.status, registered.status, isHeld()];
  });
  expect(answers).toEqual([200, 200, true]);
  await queue.next(({ type }: Json) => type === 'reaction');
});

test.each<[string, Json]>([
  ['a private channel', { invite_only: true, history_public_to_subscribers: true }],
  ['a public channel', {}],
])(
  'an edit mentions and alerts a user who was just subscribed to %s, and no user who just left it',
  async (_, form) => {
    const { id: realmId, owner } = realm;
    const [reader, former] = [await realm.person(), await realm.person()];
    for (const who of [reader, former]) await who.ok('POST', '/users/me/alert_words', { alert_words: ['zebra'] });
    const to = await channel(owner, [owner, former], form);
    const name = await nameOf(to);
    const queue = await reader.queue({ event_types: ['message', 'update_message'] });
    const send = async (content: string): Promise<number> =>
      (await owner.ok('POST', '/messages', { type: 'channel', to, topic: 't', content })).id;
    const text = `@**${reader.full_name}** @**${former.full_name}** zebra`;
    const ids = await whileHeld('messaging', 'periods', 240_000, async () => {
      await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals: [reader.user_id] });
      await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals: [former.user_id] });
      const sent = [await send(text), await send('plain')];
      for (const id of sent) await owner.ok('PATCH', `/messages/${id}`, { content: `changed ${text}` });
      return sent;
    });
    const updates = (await queue.settle()).filter(({ type }) => type === 'update_message');
    const flagged = ids.map((id) => [id, ['mentioned', 'has_alert_word']]);
    expect(updates.map(({ message_id, flags }) => [message_id, flags])).toEqual(flagged);
    const onlyReader = `mentioned_ids = '{${reader.user_id}}' AND alerted_ids = '{${reader.user_id}}'`;
    const where = `realm_id = ${realmId} AND id = ANY('{${ids}}') AND ${onlyReader}`;
    expect(await countOf('messaging.message', where)).toBe(ids.length);
  },
);

test.each(['people', 'notices', 'sending-copies'])(
  'the owner of a bot deletes a message of the bot while %s of messaging is late with changes of others',
  async (consumer) => {
    const { owner, member } = realm;
    const other = await realm.person();
    const [full_name, short_name] = [`Bot during ${consumer}`, consumer];
    const { user_id, api_key } = await member.ok('POST', '/bots', { full_name, short_name });
    const bot = new Client(owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
    const to = await channel(owner, [owner, member]);
    const { id } = await bot.ok('POST', '/messages', { type: 'channel', to, topic: 't', content: 'x' });
    const answer = await whileHeld('messaging', consumer, 240_000, async (isHeld) => {
      await owner.ok('PATCH', `/users/${other.user_id}`, { full_name: `During ${consumer}`, role: 300 });
      const { status } = await member.send('DELETE', `/messages/${id}`);
      return [status, isHeld()];
    });
    expect(answer).toEqual([200, true]);
  },
);
