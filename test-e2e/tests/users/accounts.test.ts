import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const bad = [400, 'BAD_REQUEST'];
const as = (email: string, api_key: string) => ({
  authorization: authorizationOf({ email, api_key }),
});
const memberOf = async (client: Client, id: number): Promise<Json> =>
  (await client.ok('GET', '/users', { user_ids: [id] })).members[0];

test('only administrators with the permission can create users, and all users receive the event', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_user'], client_gravatar: false });
  const email = `new@${realm.host}`;
  const form = { email, password: 'a good password', full_name: 'Newcomer' };
  const { user_id } = await realm.administrator.ok('POST', '/users', form);
  const { person } = await queue.next((event) => event.op === 'add');
  expect(person).toMatchObject({ user_id, email, delivery_email: email, role: 400, full_name: 'Newcomer' });
  const { profile_data, ...record } = person;
  expect(profile_data).toEqual({});
  expect(await memberOf(realm.guest, user_id)).toMatchObject({ ...record, avatar_url: null });
  for (const client of [realm.moderator, realm.member, realm.guest])
    expect(refused(await client.post('/users', { ...form, email: `x@${realm.host}` }))).toEqual(bad);
  const plain = await realm.person({ role: 'member' });
  await realm.owner.ok('PATCH', `/users/${plain.user_id}`, { role: 200 });
  expect(refused(await plain.post('/users', { ...form, email: `x@${realm.host}` }))).toEqual(bad);
  for (const wrong of [
    form,
    { ...form, email: email.toUpperCase() },
    { ...form, email: 'no address' },
    { ...form, email: `y@${realm.host}`, password: 'short' },
    { ...form, email: `y@${realm.host}`, full_name: 'x' },
  ])
    expect(refused(await realm.owner.post('/users', wrong))).toEqual(bad);
});

test('owners decide which administrators may create users', async () => {
  const right = await realm.person({ role: 'member' });
  const newcomer = () =>
    right.post('/users', {
      email: `n${Math.random()}@${realm.host}`,
      password: 'a good password',
      full_name: `N ${Math.random()}`,
    });
  await realm.owner.ok('PATCH', `/users/${right.user_id}`, { can_create_users: true });
  expect(refused(await newcomer())).toEqual(bad);
  await realm.owner.ok('PATCH', `/users/${right.user_id}`, { role: 200 });
  expect((await newcomer()).status).toBe(200);
  for (const can_create_users of [true, false])
    for (const client of [realm.administrator, right, realm.moderator, realm.member])
      expect(refused(await client.patch(`/users/${right.user_id}`, { can_create_users }))).toEqual(bad);
  expect((await newcomer()).status).toBe(200);
  await realm.owner.ok('PATCH', `/users/${right.user_id}`, { can_create_users: false });
  expect(refused(await newcomer())).toEqual(bad);
  expect(refused(await realm.owner.patch(`/users/${right.user_id}`, { can_create_users: 'maybe' }))).toEqual(bad);
});

test('only its owner and owners of the organization can take over a bot that may create users', async () => {
  const { owner, administrator } = realm;
  const keeper = await realm.person({ role: 'administrator' });
  const { user_id } = await keeper.ok('POST', '/bots', { full_name: 'Registrar', short_name: 'registrar' });
  const at = `/bots/${user_id}`;
  await keeper.ok('PATCH', at, { role: 200 });
  const keyReadBy = async (who: Client): Promise<string> => (await who.ok('GET', `${at}/api_key`)).api_key;
  const use = (key: string, method: 'GET' | 'POST', path: string, form: Json = {}) =>
    realm.spectator.send(method, path, form, as(`registrar-bot@${realm.host}`, key));
  const create = async (key: string): Promise<Json> => {
    const form = { email: `made${Math.random()}@${realm.host}`, full_name: `Made ${Math.random()}` };
    return refused(await use(key, 'POST', '/users', { ...form, password: 'a good password' }));
  };
  // An administrator has read the key before.
  const known = await keyReadBy(administrator);
  const grant = () => owner.ok('PATCH', `/users/${user_id}`, { can_create_users: true });
  await grant();
  expect((await use(known, 'GET', '/users/me')).status).toBe(401);
  for (const attempt of [
    administrator.get(`${at}/api_key`),
    administrator.post(`${at}/api_key/regenerate`),
    administrator.patch(at, { bot_owner_id: administrator.user_id }),
    administrator.delete(at),
  ])
    expect(refused(await attempt)).toEqual(bad);
  expect((await create(await keyReadBy(keeper)))[0]).toBe(200);
  // The right ends with the owner of the bot, and with the bot.
  await keeper.ok('PATCH', at, { bot_owner_id: administrator.user_id });
  expect(await create(await keyReadBy(administrator))).toEqual(bad);
  await grant();
  expect((await create(await keyReadBy(administrator)))[0]).toBe(200);
  await administrator.ok('DELETE', at);
  await owner.ok('POST', `/users/${user_id}/reactivate`);
  expect(await create(await keyReadBy(administrator))).toEqual(bad);
});

test('a user can be read by ID and by address, but not an unknown user or a user of another realm', async () => {
  const other = await openRealm({ havePasswords: true });
  const { user } = await realm.member.ok('GET', `/users/${realm.guest.user_id}`, { client_gravatar: false });
  expect(user).toMatchObject({ user_id: realm.guest.user_id, is_guest: true, is_bot: false, bot_type: null });
  expect(user).not.toHaveProperty('profile_data');
  const byEmail = await realm.member.ok('GET', `/users/${realm.guest.email}`, { include_custom_profile_fields: true });
  expect(byEmail.user).toMatchObject({ user_id: realm.guest.user_id, profile_data: {} });
  for (const who of [999_999, other.member.user_id, other.member.email, 'nobody@example.com'])
    expect(refused(await realm.member.get(`/users/${who}`))).toEqual(bad);
  expect((await realm.member.ok('GET', '/users', { user_ids: [other.member.user_id] })).members).toEqual([]);
});

test('spectators can list users only with spectator access, and without addresses', async () => {
  const open = await openRealm({ havePasswords: true });
  expect(refused(await open.spectator.get('/users'))).toEqual([401, 'UNAUTHORIZED']);
  await open.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const { members } = await open.spectator.ok('GET', '/users');
  const member = members.find(({ user_id }: Json) => user_id === open.member.user_id);
  expect(member).toMatchObject({ delivery_email: null, email: `user${open.member.user_id}@${open.host}` });
  expect(member.date_joined).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test('email_address_visibility decides who sees an address, and others see a placeholder that works for the API', async () => {
  const person = await realm.person();
  const real = person.email;
  const nominal = `user${person.user_id}@${realm.host}`;
  const viewers = [realm.owner, realm.administrator, realm.moderator, realm.member, realm.guest];
  const sees: Record<number, boolean[]> = {
    1: [true, true, true, true, true],
    2: [true, true, true, true, false],
    3: [true, true, false, false, false],
    4: [false, false, false, false, false],
    5: [true, true, true, false, false],
  };
  for (const visibility of [2, 3, 4, 5, 1]) {
    const queues = await Promise.all(viewers.map((viewer) => viewer.queue({ event_types: ['realm_user'] })));
    await person.ok('PATCH', '/settings', { email_address_visibility: visibility });
    for (const [index, viewer] of viewers.entries()) {
      const expected = sees[visibility]?.[index] ? real : null;
      const event = await queues[index]?.next(({ person: { delivery_email } }) => delivery_email !== undefined);
      expect([visibility, index, event.person]).toEqual([
        visibility,
        index,
        { user_id: person.user_id, delivery_email: expected },
      ]);
      const { email, delivery_email } = await memberOf(viewer, person.user_id);
      expect([email, delivery_email]).toEqual([visibility === 1 ? real : nominal, expected]);
      expect((await viewer.get(`/users/${real}`)).status).toBe(expected === null ? 400 : 200);
      if (visibility !== 1) expect((await viewer.get(`/users/${nominal}`)).status).toBe(200);
    }
    expect((await person.ok('GET', '/users/me')).delivery_email).toBe(real);
    for (const email of [real, nominal])
      expect((await realm.spectator.get('/users/me', {}, as(email, person.api_key))).status).toBe(200);
  }
});

test('no spelling of a hidden address finds its account', async () => {
  const { invite_link } = await realm.owner.ok('POST', '/invites/multiuse');
  const email = 'risk@natter.example';
  const form = { email, full_name: 'Risk', password: 'a good password' };
  const { api_key } = await realm.spectator.ok('POST', '/join', { ...form, key: invite_link.split('/').at(-2) });
  expect((await realm.member.get(`/users/${email.toUpperCase()}`)).status).toBe(200);
  const hidden = await realm.spectator.patch('/settings', { email_address_visibility: 4 }, as(email, api_key));
  expect(hidden.status).toBe(200);
  // PostgreSQL and JavaScript map some of these letters to different ones.
  for (const spelling of ['risk', 'RISK', 'rİsk', 'rısk', 'riſk', 'ris\u212a']) {
    const answer = await realm.owner.get(`/users/${encodeURIComponent(`${spelling}@natter.example`)}`);
    expect([spelling, ...refused(answer)]).toEqual([spelling, ...bad]);
  }
});

test('only owners can change owners, the last owner must stay, and guests cannot become administrators', async () => {
  const { owner, administrator, moderator } = await openRealm({ havePasswords: true });
  const change = (client: Client, who: Client, role: number) => client.patch(`/users/${who.user_id}`, { role });
  expect(refused(await change(administrator, moderator, 100))).toEqual(bad);
  expect(refused(await change(administrator, owner, 400))).toEqual(bad);
  expect(refused(await change(owner, owner, 200))).toEqual(bad);
  expect(refused(await change(moderator, moderator, 200))).toEqual(bad);
  expect(refused(await change(owner, moderator, 150))).toEqual(bad);
  expect(refused(await realm.owner.patch(`/users/${realm.guest.email}`, { role: 200 }))).toEqual(bad);
  expect((await change(owner, moderator, 100)).status).toBe(200);
  expect((await change(moderator, owner, 400)).status).toBe(200);
  expect(refused(await owner.patch(`/users/${moderator.user_id}`, { role: 400 }))).toEqual(bad);
});

test('only an owner with the permission can change the address of another user', async () => {
  const person = await realm.person();
  const new_email = `moved${person.user_id}@${realm.host}`;
  expect(refused(await realm.administrator.patch(`/users/${person.email}`, { new_email }))).toEqual(bad);
  expect(refused(await realm.owner.patch(`/users/${person.email}`, { new_email: realm.guest.email }))).toEqual(bad);
  const queue = await realm.member.queue({ event_types: ['realm_user'] });
  await realm.owner.ok('PATCH', `/users/${person.email}`, { new_email, full_name: 'Moved Away' });
  await queue.next((event) => event.person.delivery_email === new_email);
  expect(await memberOf(realm.member, person.user_id)).toMatchObject({ email: new_email, full_name: 'Moved Away' });
  expect((await realm.spectator.get('/users/me', {}, as(new_email, person.api_key))).status).toBe(200);
  expect(refused(await person.get('/users/me'))[0]).toBe(401);
});

test('a key alone cannot change the address of its owner or of another user who may change addresses', async () => {
  const another = await openRealm();
  const { owner } = another;
  const [peer, lesser] = [await another.person({ role: 'owner' }), another.member];
  await owner.ok('PATCH', `/users/${lesser.user_id}`, { role: 100 });
  const new_email = `thief@${another.host}`;
  for (const target of [owner.user_id, owner.email, owner.email.toUpperCase(), peer.user_id]) {
    const answer = await owner.patch(`/users/${target}`, { new_email, full_name: 'Taken Over' });
    expect(refused(answer)).toEqual(bad);
    expect(answer.body.msg).toContain('PATCH /settings');
  }
  // A demoted peer keeps the right, and would use it after the promotion.
  await owner.ok('PATCH', `/users/${peer.user_id}`, { role: 400 });
  expect(refused(await owner.patch(`/users/${peer.user_id}`, { new_email }))).toEqual(bad);
  for (const person of [owner, peer])
    expect(await memberOf(owner, person.user_id)).toMatchObject({ email: person.email, full_name: person.full_name });
  // The same address is no change, and an owner without the right is changed like others.
  await owner.ok('PATCH', `/users/${owner.user_id}`, { new_email: owner.email });
  await owner.ok('PATCH', `/users/${lesser.user_id}`, { new_email: `lesser@${another.host}` });
});

test('a deactivated user and their bots are rejected at once, and reactivation does not restore their keys', async () => {
  const person = await realm.person();
  const bot = await person.ok('POST', '/bots', {
    full_name: `Bot of ${person.user_id}`,
    short_name: `b${person.user_id}`,
  });
  const queue = await realm.member.queue({ event_types: ['realm_user'] });
  for (const client of [realm.moderator, realm.member, realm.guest, person])
    expect(refused(await client.delete(`/users/${person.user_id}`))).toEqual(bad);
  await realm.administrator.ok('DELETE', `/users/${person.user_id}`);
  expect(refused(await person.get('/users/me'))).toEqual([401, 'USER_DEACTIVATED']);
  await queue.next((event) => event.person.user_id === person.user_id && event.person.is_active === false);
  expect((await memberOf(realm.member, bot.user_id)).is_active).toBe(false);
  await realm.administrator.ok('DELETE', `/users/${person.user_id}`);
  expect(refused(await realm.member.post(`/users/${person.user_id}/reactivate`))).toEqual(bad);
  await realm.administrator.ok('POST', `/users/${person.user_id}/reactivate`);
  expect(refused(await person.get('/users/me'))).toEqual([401, 'INVALID_API_KEY']);
  const login = { username: person.email, password: person.password };
  person.api_key = (await realm.spectator.ok('POST', '/fetch_api_key', login)).api_key;
  await realm.administrator.ok('POST', `/users/${bot.user_id}/reactivate`);
  const { bots } = await person.ok('GET', '/bots');
  expect(bots).toHaveLength(1);
  expect(bots[0].api_key).not.toBe(bot.api_key);
  const asBot = async (key: string) => (await realm.spectator.get('/users/me', {}, as(bots[0].username, key))).status;
  expect([await asBot(bot.api_key), await asBot(bots[0].api_key)]).toEqual([401, 200]);
  expect(refused(await realm.owner.delete('/users/999999'))).toEqual(bad);
  expect(refused(await realm.owner.delete(`/users/${realm.owner.user_id}`))).toEqual(bad);
});

test('users can deactivate themselves, except the last owner', async () => {
  const person = await realm.person({ role: 'guest' });
  await person.ok('DELETE', '/users/me');
  expect(refused(await person.get('/users/me'))).toEqual([401, 'USER_DEACTIVATED']);
  const { status, body } = await realm.owner.delete('/users/me');
  expect([status, body.code, body.is_last_owner, body.entity]).toEqual([
    400,
    'CANNOT_DEACTIVATE_LAST_USER',
    true,
    'organization owner',
  ]);
});

test('each login creates its own key, and keys can be revoked one by one or all at once', async () => {
  const person = await realm.person();
  const login = async () =>
    (await realm.spectator.ok('POST', '/fetch_api_key', { username: person.email, password: person.password })).api_key;
  const [first, second] = [await login(), await login()];
  const { api_keys } = await person.ok('GET', '/users/me/api_keys');
  expect(api_keys.map(({ is_current }: Json) => is_current)).toEqual([true, false, false]);
  const me = async (key: string) => (await realm.spectator.get('/users/me', {}, as(person.email, key))).status;
  await person.ok('DELETE', `/users/me/api_keys/${api_keys[1].id}`);
  expect([await me(first), await me(second)]).toEqual([401, 200]);
  expect(refused(await realm.member.delete(`/users/me/api_keys/${api_keys[2].id}`))).toEqual(bad);
  const { api_key } = await person.ok('POST', '/users/me/api_key/regenerate');
  expect([await me(second), await me(person.api_key), await me(api_key)]).toEqual([401, 401, 200]);
});

test('a user has at most 50 keys, and another login revokes the oldest key of the client with the most', async () => {
  const person = await realm.person();
  const login = { username: person.email, password: person.password };
  const keys: string[] = [];
  for (let count = 0; count < 50; count++)
    keys.push((await realm.spectator.ok('POST', '/fetch_api_key', { ...login, client: 'Script' })).api_key);
  const me = async (key = '') => (await realm.spectator.get('/users/me', {}, as(person.email, key))).status;
  expect([await me(keys[0]), await me(keys[1]), await me(keys[49])]).toEqual([401, 200, 200]);
  expect((await person.ok('GET', '/users/me/api_keys')).api_keys).toHaveLength(50);
});

// From the fiftieth wrong password on, the network has to wait. A repeated login may count twice.
test('40 concurrent logins all get a response and do not delay other requests', async () => {
  const crowded = await openRealm();
  const person = await crowded.person({ hasPassword: true });
  const attempts = Array.from({ length: 40 }, (_, index) =>
    untilServed(() =>
      crowded.spectator.send('POST', '/fetch_api_key', {
        username: `crowd${index}@${crowded.host}`,
        password: 'wrong',
      }),
    ),
  );
  expect((await person.get('/users/me')).status).toBe(200);
  for (const answer of await Promise.all(attempts)) expect(refused(answer)).toEqual([401, 'AUTHENTICATION_FAILED']);
  const endless = { username: person.email, password: 'x'.repeat(1_000_000) };
  const { status } = await crowded.spectator.post('/fetch_api_key', endless);
  expect(status).toBe(413);
});

test('a login is rejected after five wrong passwords, and a right password resets the count', async () => {
  const person = await realm.person();
  const login = (password: string) => realm.spectator.post('/fetch_api_key', { username: person.email, password });
  for (let count = 0; count < 4; count++) expect(refused(await login('wrong'))).toEqual([401, 'AUTHENTICATION_FAILED']);
  expect((await login(person.password)).status).toBe(200);
  for (let count = 0; count < 5; count++) expect(refused(await login('wrong'))).toEqual([401, 'AUTHENTICATION_FAILED']);
  expect(refused(await login(person.password))).toEqual([429, 'RATE_LIMIT_HIT']);
});

test('max_message_id of GET /users/me equals that of a register after other events', async () => {
  const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
  const { id } = await realm.member.ok('POST', '/messages', form);
  await realm.member.ok('POST', '/users/me/status', { status_text: 'writing' });
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['message'] });
  expect(state.max_message_id).toBe(id);
  expect((await realm.member.ok('GET', '/users/me')).max_message_id).toBe(id);
});

test('the event of a new user equals their entry in a register', async () => {
  const queue = await realm.member.queue({ event_types: ['realm_user'], client_gravatar: false });
  const newcomer = await realm.person();
  const { person } = await queue.next((event) => event.op === 'add' && event.person.user_id === newcomer.user_id);
  const fetch = { fetch_event_types: ['realm_user'], client_gravatar: false };
  const { realm_users } = await realm.member.ok('POST', '/register', fetch);
  expect(realm_users.find(({ user_id }: Json) => user_id === newcomer.user_id)).toEqual(person);
});

test('an ID beyond the range of the database returns 400', async () => {
  for (const attempt of [
    realm.member.get('/users', { user_ids: [99_999_999_999] }),
    realm.member.post('/users/me/muted_users/99999999999'),
    realm.member.get('/user_groups/99999999999/members'),
    realm.owner.delete('/users/99999999999'),
    realm.owner.delete('/realm/filters/99999999999'),
  ])
    expect(refused(await attempt)).toEqual(bad);
});

test('the register of a spectator lists users without personal data', async () => {
  const open = await openRealm({ havePasswords: true });
  await open.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const state = await open.spectator.ok('POST', '/register', { fetch_event_types: ['realm_user'] });
  const member = state.realm_users.find(({ user_id }: Json) => user_id === open.member.user_id);
  expect(member).toMatchObject({ delivery_email: null, full_name: open.member.full_name });
  expect(member).not.toHaveProperty('profile_data');
  expect(state).toMatchObject({ queue_id: null, user_id: -1, is_admin: false, can_create_public_streams: false });
  expect(state.cross_realm_bots.length).toBe(2);
});

test('a viewer who loses access to an address receives the avatar URL', async () => {
  const person = await realm.person();
  const pictureFor = async (viewer: Client) => (await memberOf(viewer, person.user_id)).avatar_url;
  const pictured = (event: Json) => event.person.user_id === person.user_id && event.person.avatar_url !== undefined;
  expect(await pictureFor(realm.guest)).toBe(null);
  const queue = await realm.guest.queue({ event_types: ['realm_user'] });
  await person.ok('PATCH', '/settings', { email_address_visibility: 2 });
  const { avatar_url } = (await queue.next(pictured)).person;
  expect(avatar_url).toEqual(expect.stringMatching(/^\/avatar\//));
  expect(await pictureFor(realm.guest)).toBe(avatar_url);

  const former = await realm.person();
  expect(await pictureFor(former)).toBe(null);
  const theirs = await former.queue({ event_types: ['realm_user'] });
  await realm.owner.ok('PATCH', `/users/${former.user_id}`, { role: 600 });
  expect((await theirs.next(pictured)).person.avatar_url).toBe(avatar_url);
  expect(await pictureFor(former)).toBe(avatar_url);
});
