import { type Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
/** The user IDs and the addresses of the system bots. */
let bots: { user_id: number; email: string }[];
beforeAll(async () => {
  realm = await openRealm();
  bots = (await realm.owner.ok('POST', '/register', { fetch_event_types: ['realm_user'] })).cross_realm_bots;
  expect(bots.map(({ email }) => email).sort()).toEqual([
    `notification-bot@${realm.host}`,
    `welcome-bot@${realm.host}`,
  ]);
});

const refusal = ({ status, body }: Json): Json => [status, body.code, body.msg];
const invalid = (msg: string): Json => [400, 'BAD_REQUEST', msg];
const makeChannel = async (name: string, subscribers: readonly Client[]): Promise<number> => {
  const ids = subscribers.map(({ user_id }) => user_id);
  return (await realm.owner.ok('POST', '/channels/create', { name, subscribers: ids })).id;
};
const subscribersOf = async (id: number): Promise<number[]> =>
  (await realm.owner.ok('GET', `/streams/${id}/members`)).subscribers;

test('GET /users lists the bots of users, and not those of the server, also if it is asked for them', async () => {
  const { owner, administrator, moderator, member, member2, guest, spectator } = realm;
  const bot = await member.ok('POST', '/bots', { full_name: 'Helper', short_name: 'helper' });
  await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const listed = [owner, administrator, moderator, member, member2, guest].map(({ user_id }) => user_id);
  const asked = [...bots.map(({ user_id }) => user_id), member.user_id];
  for (const viewer of [owner, guest, spectator]) {
    const { members } = await viewer.ok('GET', '/users');
    expect(members.map(({ user_id }: Json) => user_id)).toEqual([...listed, bot.user_id]);
    const some = await viewer.ok('GET', '/users', { user_ids: asked });
    expect(some.members.map(({ user_id }: Json) => user_id)).toEqual([member.user_id]);
  }
});

test('a bot of the server is found by its ID and by its address', async () => {
  for (const { user_id, email } of bots)
    for (const name of [user_id, email]) {
      const { user } = await realm.guest.ok('GET', `/users/${name}`);
      expect(user).toMatchObject({ user_id, email, is_bot: true, is_system_bot: true });
    }
});

test('a bot of the server cannot be subscribed or unsubscribed: it is answered like an unknown user', async () => {
  const id = await makeChannel('without bots', [realm.owner]);
  const bot = await realm.owner.ok('POST', '/bots', { full_name: 'Reader', short_name: 'reader' });
  for (const { user_id, email } of bots) {
    for (const [principal, msg] of [
      [user_id, `Invalid user ID ${user_id}`],
      [email, `Invalid email '${email}'`],
    ] as const) {
      const principals = [principal];
      for (const name of ['without bots', 'never created']) {
        const joining = await realm.owner.post('/users/me/subscriptions', { subscriptions: [{ name }], principals });
        expect(refusal(joining)).toEqual(invalid(msg));
        const leaving = await realm.owner.delete('/users/me/subscriptions', { subscriptions: [name], principals });
        expect(refusal(leaving)).toEqual(invalid(msg));
      }
    }
    const creating = await realm.owner.post('/channels/create', { name: 'never created', subscribers: [user_id] });
    expect(refusal(creating)).toEqual(invalid(`Invalid user ID ${user_id}`));
  }
  expect((await realm.owner.get('/get_stream_id', { stream: 'never created' })).status).toBe(400);
  // Bots of users can be both.
  const others = { principals: [bot.user_id] };
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'without bots' }], ...others });
  expect(await subscribersOf(id)).toEqual([realm.owner.user_id, bot.user_id]);
  await realm.owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['without bots'], ...others });
  expect(await subscribersOf(id)).toEqual([realm.owner.user_id]);
});

test('an administrator can end a subscription of a bot of the server that an earlier release made', async () => {
  const [first, second] = bots.map(({ user_id }) => user_id) as [number, number];
  const id = await makeChannel('from before', [realm.owner, realm.member]);
  await connected(async (client) => {
    await client.query(
      `INSERT INTO channels.subscription (realm_id, channel_id, user_id, color) VALUES ($1, $2, $3, '#c2c2c2')`,
      [realm.id, id, first],
    );
    await client.query(`UPDATE channels.channel SET subscriber_count = subscriber_count + 1 WHERE id = $1`, [id]);
  });
  expect(await subscribersOf(id)).toContain(first);
  await realm.member.ok('POST', '/messages', { type: 'channel', to: id, topic: 'still', content: 'works' });
  const leave = (who: Client, userId: number) =>
    who.delete('/users/me/subscriptions', { subscriptions: ['from before'], principals: [userId] });
  expect((await leave(realm.member, first)).status).toBe(400);
  expect(refusal(await leave(realm.owner, second))).toEqual(invalid(`Invalid user ID ${second}`));
  const queue = await realm.member.queue({ event_types: ['subscription'] });
  expect((await leave(realm.owner, first)).body).toMatchObject({ removed: ['from before'], not_removed: [] });
  const event = await queue.next(({ op }: Json) => op === 'peer_remove');
  expect(event).toMatchObject({ stream_ids: [id], user_ids: [first] });
  expect((await realm.owner.ok('GET', `/streams/${id}`)).stream.subscriber_count).toBe(2);
  expect(refusal(await leave(realm.owner, first))).toEqual(invalid(`Invalid user ID ${first}`));
});

test('a bot of the server cannot become a member of a group or be named in a permission', async () => {
  const { owner, member } = realm;
  const { group_id } = await owner.ok('POST', '/user_groups/create', {
    name: 'without bots',
    description: '',
    members: [member.user_id],
  });
  const id = await makeChannel('with permissions', [owner]);
  for (const { user_id } of bots) {
    const unknown = invalid(`Invalid user ID ${user_id}`);
    const making = { name: 'never made', description: '', members: [user_id] };
    expect(refusal(await owner.post('/user_groups/create', making))).toEqual(unknown);
    expect(refusal(await owner.post(`/user_groups/${group_id}/members`, { add: [user_id] }))).toEqual(unknown);
    const value = { direct_members: [member.user_id, user_id], direct_subgroups: [] };
    for (const [path, name] of [
      [`/streams/${id}`, 'can_send_message_group'],
      [`/user_groups/${group_id}`, 'can_mention_group'],
      ['/realm', 'can_create_groups'],
    ] as const)
      expect(refusal(await owner.patch(path, { [name]: { new: value } }))).toEqual(invalid('Invalid user ID'));
    const creating = { name: 'never created', subscribers: [], can_send_message_group: value };
    expect(refusal(await owner.post('/channels/create', creating))).toEqual(invalid('Invalid user ID'));
  }
  expect((await owner.ok('GET', `/user_groups/${group_id}/members`)).members).toEqual([member.user_id]);
});

test('users write to a bot of the server directly', async () => {
  const [bot] = bots;
  const form = { type: 'direct', to: [bot?.user_id], content: 'thank you' };
  const { id } = await realm.member.ok('POST', '/messages', form);
  const { message } = await realm.member.ok('GET', `/messages/${id}`);
  expect(message.display_recipient.map((one: Json) => one.id).sort()).toEqual(
    [bot?.user_id, realm.member.user_id].sort(),
  );
});
