import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const bad = [400, 'BAD_REQUEST'];

test('a user can mute another user once, but not themselves or an unknown user, and only they receive events', async () => {
  const { member, guest } = realm;
  const queue = await member.queue({ event_types: ['muted_users'] });
  const other = await guest.queue({ event_types: ['muted_users', 'message'] });
  await member.ok('POST', `/users/me/muted_users/${guest.user_id}`);
  const entry = { id: guest.user_id, timestamp: expect.any(Number) };
  expect((await queue.next((event) => event.type === 'muted_users')).muted_users).toEqual([entry]);
  expect((await member.ok('POST', '/register', { fetch_event_types: ['muted_users'] })).muted_users).toEqual([entry]);
  for (const id of [guest.user_id, member.user_id, 999_999])
    expect(refused(await member.post(`/users/me/muted_users/${id}`))).toEqual(bad);
  await member.ok('DELETE', `/users/me/muted_users/${guest.user_id}`);
  expect((await queue.next((event) => event.muted_users?.length === 0)).muted_users).toEqual([]);
  expect(refused(await member.delete(`/users/me/muted_users/${guest.user_id}`))).toEqual(bad);
  expect((await other.settle()).filter(({ type }) => type === 'muted_users')).toEqual([]);
});

test('alert words are stored without duplicates, and only their user receives the events', async () => {
  const { member } = realm;
  const queue = await member.queue({ event_types: ['alert_words'] });
  expect(await member.ok('POST', '/users/me/alert_words', { alert_words: ['Tea', ' tea ', 'coffee'] })).toMatchObject({
    alert_words: ['Tea', 'coffee'],
  });
  expect((await queue.next((event) => event.type === 'alert_words')).alert_words).toEqual(['Tea', 'coffee']);
  expect(refused(await member.post('/users/me/alert_words', { alert_words: ['x'.repeat(101)] }))).toEqual(bad);
  // A request without words does not change the list.
  expect((await member.ok('POST', '/users/me/alert_words')).alert_words).toEqual(['Tea', 'coffee']);
  expect(refused(await member.delete('/users/me/alert_words'))).toEqual([400, 'REQUEST_VARIABLE_MISSING']);
  await member.ok('DELETE', '/users/me/alert_words', { alert_words: ['TEA'] });
  expect((await member.ok('GET', '/users/me/alert_words')).alert_words).toEqual(['coffee']);
  expect((await realm.guest.ok('GET', '/users/me/alert_words')).alert_words).toEqual([]);
});

test('a status can be set, read and cleared, and administrators can set it for others', async () => {
  const { member, guest, administrator } = realm;
  const queue = await guest.queue({ event_types: ['user_status'] });
  await member.ok('POST', '/users/me/status', { status_text: ' on holiday ', emoji_name: 'tada' });
  const set = {
    status_text: 'on holiday',
    emoji_name: 'tada',
    emoji_code: '1f389',
    reaction_type: 'unicode_emoji',
  };
  expect(await queue.next((event) => event.type === 'user_status')).toMatchObject({ user_id: member.user_id, ...set });
  expect((await guest.ok('GET', `/users/${member.user_id}/status`)).status).toEqual(set);
  const { user_status } = await guest.ok('POST', '/register', { fetch_event_types: ['user_status'] });
  expect(user_status).toEqual({ [member.user_id]: set });
  for (const form of [
    {},
    { status_text: 'x'.repeat(61) },
    { emoji_code: '1f389' },
    { emoji_name: 'no_such_emoji' },
    { emoji_name: 'tada', emoji_code: '1f600', reaction_type: 'unicode_emoji' },
  ])
    expect(refused(await member.post('/users/me/status', form))).toEqual(bad);
  expect(refused(await guest.post(`/users/${member.user_id}/status`, { status_text: 'x' }))).toEqual(bad);
  await administrator.ok('POST', `/users/${member.user_id}/status`, { status_text: '', emoji_name: '' });
  expect((await guest.ok('GET', `/users/${member.user_id}/status`)).status).toEqual({});
  await member.ok('POST', '/users/me/status', { away: true });
  expect((await guest.ok('GET', `/users/${member.user_id}/status`)).status).toEqual({ away: true });
});

test('each change of a status is one event with the given fields, also if it changes nothing', async () => {
  const person = await realm.person();
  const queue = await realm.guest.queue({ event_types: ['user_status', 'message'] });
  const none = { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' };
  const told: [Json, Json][] = [
    [
      { away: true, status_text: ' out ' },
      { away: true, status_text: 'out' },
    ],
    [{ emoji_name: '' }, none],
    [{ emoji_name: '' }, none],
    [{ status_text: 'out' }, { status_text: 'out' }],
    [{ away: true }, { away: true }],
    [{ away: false }, { away: false }],
  ];
  for (const [form] of told) await person.ok('POST', '/users/me/status', form);
  await queue.settle();
  const seen = queue.seen.filter(({ type }) => type === 'user_status').map(({ id, ...event }) => event);
  expect(seen).toEqual(told.map(([, fields]) => ({ type: 'user_status', user_id: person.user_id, ...fields })));
});

test('a bot can be created, changed, given away and deactivated, and is visible to its owner and administrators', async () => {
  const { member, member2, administrator, guest } = realm;
  const types = { event_types: ['realm_bot', 'message'], fetch_event_types: ['realm_bot'] };
  const [own, boss, stranger] = [
    await member.queue(types),
    await administrator.queue(types),
    await member2.queue(types),
  ];
  const bot = await member.ok('POST', '/bots', { full_name: 'Helper', short_name: 'helper', bot_type: 1 });
  expect((await own.next((event) => event.op === 'add')).bot).toMatchObject({
    user_id: bot.user_id,
    api_key: bot.api_key,
    owner_id: member.user_id,
    email: `helper-bot@${realm.host}`,
  });
  await boss.next((event) => event.op === 'add');
  expect((await stranger.settle()).filter(({ type }) => type === 'realm_bot')).toEqual([]);
  expect((await member.ok('GET', '/bots')).bots).toMatchObject([{ full_name: 'Helper', api_key: bot.api_key }]);
  expect((await member.ok('POST', '/register', types)).realm_bots).toMatchObject([{ api_key: bot.api_key }]);
  expect((await member2.ok('POST', '/register', types)).realm_bots).toEqual([]);
  for (const form of [
    { full_name: 'Helper', short_name: 'other' },
    { full_name: 'Another', short_name: 'helper' },
    { full_name: 'Another', short_name: 'a b' },
    { full_name: 'Another', short_name: 'another', bot_type: 9 },
    { full_name: 'Another', short_name: 'another', bot_type: 3 },
  ])
    expect(refused(await member.post('/bots', form))).toEqual(bad);
  expect(refused(await guest.post('/bots', { full_name: 'Guest Bot', short_name: 'guest' }))).toEqual(bad);
  expect(refused(await member2.patch(`/bots/${bot.user_id}`, { full_name: 'Mine' }))).toEqual(bad);
  expect(refused(await member.patch('/bots/999999', { full_name: 'Mine' }))).toEqual(bad);
  const { api_key } = await member.ok('POST', `/bots/${bot.user_id}/api_key/regenerate`);
  expect((await member.ok('GET', `/bots/${bot.user_id}/api_key`)).api_key).toBe(api_key);
  await member.ok('PATCH', `/bots/${bot.user_id}`, { full_name: 'Helping Hand', bot_owner_id: member2.user_id });
  expect((await own.next((event) => event.op === 'delete')).bot).toEqual({ user_id: bot.user_id });
  // The former owner knows the old key.
  const given = (await member2.ok('GET', `/bots/${bot.user_id}/api_key`)).api_key;
  expect(given).not.toBe(api_key);
  expect((await stranger.next((event) => event.op === 'add')).bot).toMatchObject({
    full_name: 'Helping Hand',
    api_key: given,
  });
  expect(refused(await member.delete(`/bots/${bot.user_id}`))).toEqual(bad);
  await member2.ok('DELETE', `/bots/${bot.user_id}`);
  await stranger.next((event) => event.op === 'update' && event.bot.is_active === false);
});

test('bots can be muted, including those of the realm', async () => {
  const { cross_realm_bots } = await realm.member2.ok('POST', '/register', { fetch_event_types: ['realm_user'] });
  const { user_id } = cross_realm_bots[0];
  await realm.member2.ok('POST', `/users/me/muted_users/${user_id}`);
  const { muted_users } = await realm.member2.ok('POST', '/register', { fetch_event_types: ['muted_users'] });
  expect(muted_users).toMatchObject([{ id: user_id }]);
});

test('a bot for incoming webhooks can send, but cannot read', async () => {
  const form = { full_name: 'Hook', short_name: 'hook', bot_type: 2 };
  const made = await realm.member.ok('POST', '/bots', form);
  const bot = new Client(realm.member, { ...made, email: `hook-bot@${realm.host}`, full_name: 'Hook' });
  await bot.ok('POST', '/messages', { type: 'direct', to: [realm.member.user_id], content: 'deployed' });
  await bot.ok('POST', '/typing', { op: 'start', to: [realm.member.user_id] });
  for (const attempt of [
    bot.get('/messages', { anchor: 'newest', num_before: 1, num_after: 0 }),
    bot.post('/register'),
    bot.get('/users'),
    bot.get('/users/me'),
    bot.post('/users/me/subscriptions', { subscriptions: [{ name: 'hooked' }] }),
  ])
    expect(refused(await attempt)).toEqual(bad);
});

test('a bot can regenerate its key, and its owner can read the new one', async () => {
  const made = await realm.member.ok('POST', '/bots', { full_name: 'Locksmith', short_name: 'locksmith', bot_type: 1 });
  const bot = new Client(realm.member, { ...made, email: `locksmith-bot@${realm.host}`, full_name: 'Locksmith' });
  const queue = await realm.member.queue({ event_types: ['realm_bot'] });
  const { api_key } = await bot.ok('POST', '/users/me/api_key/regenerate');
  expect(api_key).not.toBe(made.api_key);
  expect((await queue.next((event) => event.op === 'update')).bot).toMatchObject({ user_id: made.user_id, api_key });
  expect((await realm.member.ok('GET', `/bots/${made.user_id}/api_key`)).api_key).toBe(api_key);
  expect((await bot.get('/users/me')).status).toBe(401);
  bot.api_key = api_key;
  await bot.ok('GET', '/users/me');
});

test('the owner of a bot that ended its key is shown none, and can make a new one', async () => {
  const { member } = realm;
  const made = await member.ok('POST', '/bots', { full_name: 'Keyless', short_name: 'keyless', bot_type: 1 });
  const bot = new Client(member, { ...made, email: `keyless-bot@${realm.host}`, full_name: 'Keyless' });
  const queue = await member.queue({ event_types: ['realm_bot'] });
  const [key] = (await bot.ok('GET', '/users/me/api_keys')).api_keys;
  await bot.ok('DELETE', `/users/me/api_keys/${key.id}`);
  expect((await queue.next(({ op }) => op === 'update')).bot).toEqual({ user_id: made.user_id, api_key: '' });
  const shown = async () => (await member.ok('GET', `/bots/${made.user_id}/api_key`)).api_key;
  expect(await shown()).toBe('');
  const { bots } = await member.ok('GET', '/bots');
  expect(bots.find(({ full_name }: Json) => full_name === 'Keyless')).toMatchObject({ api_key: '' });
  const { api_key } = await member.ok('POST', `/bots/${made.user_id}/api_key/regenerate`);
  expect(await shown()).toBe(api_key);
});

test('the response to giving a bot away contains the visible address of its new owner', async () => {
  const { member, administrator } = realm;
  const shy = await realm.person();
  await shy.ok('PATCH', '/settings', { email_address_visibility: 4 });
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Present', short_name: 'present', bot_type: 1 });
  const { bot_owner } = await administrator.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: shy.user_id });
  expect(bot_owner).toBe(`user${shy.user_id}@${realm.host}`);
});

test('a bot cannot have the name of a user in a realm that requires unique names', async () => {
  const { owner, member } = realm;
  // The name of an active person is refused with and without the setting.
  const former = await realm.person();
  await owner.ok('DELETE', `/users/${former.user_id}`);
  const form = { full_name: former.full_name, short_name: 'double', bot_type: 1 };
  await owner.ok('PATCH', '/realm', { require_unique_names: true });
  expect(refused(await member.post('/bots', form))).toEqual(bad);
  await owner.ok('PATCH', '/realm', { require_unique_names: false });
  const { user_id } = await member.ok('POST', '/bots', form);
  await owner.ok('PATCH', '/realm', { require_unique_names: true });
  expect(refused(await member.patch(`/bots/${user_id}`, { full_name: member.full_name }))).toEqual(bad);
  await member.ok('PATCH', `/bots/${user_id}`, { full_name: 'Quite its own' });
  await owner.ok('PATCH', '/realm', { require_unique_names: false });
});

test('limits count characters, not code units', async () => {
  const { member } = realm;
  await member.ok('POST', '/users/me/status', { status_text: '🌳'.repeat(60) });
  expect(refused(await member.post('/users/me/status', { status_text: '🌳'.repeat(61) }))).toEqual(bad);
  expect(refused(await member.patch('/settings', { full_name: '🌳' }))).toEqual(bad);
});

test('a bot for incoming webhooks receives rate headers even if it is rejected', async () => {
  const made = await realm.member.ok('POST', '/bots', { full_name: 'Counted', short_name: 'counted', bot_type: 2 });
  const bot = new Client(realm.member, { ...made, email: `counted-bot@${realm.host}`, full_name: 'Counted' });
  const { status, headers } = await bot.get('/users');
  expect([status, Number(headers['x-ratelimit-limit']) > 0]).toEqual([400, true]);
});

test('a bot has no name of another active account, neither when it is created, renamed nor reactivated', async () => {
  const { owner, member, member2 } = realm;
  const make = (full_name: string, short_name: string) => member.post('/bots', { full_name, short_name, bot_type: 1 });
  const inUse = [400, 'Name is already in use!'];
  const said = ({ status, body }: Json): Json => [status, body.msg];
  const first = (await make('Namesake', 'namesake1')).body.user_id;
  expect(said(await make('Namesake', 'namesake2'))).toEqual(inUse);
  expect(said(await make(member2.full_name, 'namesake2'))).toEqual(inUse);
  expect(said(await member.patch(`/bots/${first}`, { full_name: member2.full_name }))).toEqual(inUse);
  expect(said(await owner.patch(`/users/${first}`, { full_name: member2.full_name }))).toEqual(inUse);
  await owner.ok('DELETE', `/bots/${first}`);
  const second = (await make('Namesake', 'namesake2')).body.user_id;
  expect(said(await owner.post(`/users/${first}/reactivate`))).toEqual([
    400,
    'There is already an active bot named "Namesake" in this organization. To reactivate this bot, you must rename or deactivate the other one first.',
  ]);
  await owner.ok('PATCH', `/bots/${second}`, { full_name: 'Namesake the second' });
  await owner.ok('POST', `/users/${first}/reactivate`);
});

test('an alert word is removed in every spelling, whatever its letters', async () => {
  const alert_words = ['İzmir', 'GROẞ', 'ΟΔΟΣ'];
  await realm.member2.ok('POST', '/users/me/alert_words', { alert_words });
  for (const word of alert_words) {
    const left = (await realm.member2.ok('DELETE', '/users/me/alert_words', { alert_words: [word] })).alert_words;
    expect(left).not.toContain(word);
  }
});
