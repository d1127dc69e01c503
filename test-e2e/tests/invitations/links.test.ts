import { type Client, countOf, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';

let realm: Realm;
let groups: Record<string, number>;
beforeEach(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  groups = Object.fromEntries(user_groups.map((group: Json) => [group.name, group.id]));
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];
const link = async (client: Client, form: Json = {}): Promise<string> =>
  (await client.ok('POST', '/invites/multiuse', form)).invite_link;
const keyOf = (url: string): string => url.split('/').at(-2) as string;
const invites = async (client: Client): Promise<Json[]> => (await client.ok('GET', '/invites')).invites;
let count = 0;
const join = (key: string, form: Json = {}) =>
  realm.spectator.patiently('POST', '/join', {
    key,
    email: `new${++count}@natter.example`,
    full_name: `New ${count}`,
    password: 'a long password',
    ...form,
  });
const userOf = async (id: number): Promise<Json> =>
  (await realm.owner.ok('GET', '/users', { user_ids: [id] })).members[0];
const everyone = (permission: string) => ({ [permission]: { new: groups['role:members'] } });

test('duplicate IDs in a link are stored once', async () => {
  const form = { name: 'crew', description: '', members: [] };
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', form);
  const group_ids = Array<number>(1_000).fill(group_id);
  await link(realm.owner, { group_ids });
  const [invite] = await invites(realm.owner);
  const stored = () => countOf('users.invitation', `id = ${invite.id} AND group_ids = '{${group_id}}'`);
  expect(await stored()).toBe(1);
  await realm.owner.ok('PATCH', `/invites/multiuse/${invite.id}`, { group_ids });
  expect(await stored()).toBe(1);
});

test('POST /invites/multiuse creates a link with a key of 40 characters that is valid for ten days', async () => {
  const url = await link(realm.administrator);
  expect(url).toMatch(new RegExp(`^http://${realm.host.replaceAll('.', '\\.')}(:\\d+)?/join/[a-z0-9]{40}/$`));
  const [invite] = await invites(realm.administrator);
  expect(invite).toEqual({
    id: expect.any(Number),
    invited_by_user_id: realm.administrator.user_id,
    invited: expect.any(Number),
    expiry_date: invite.invited + 14_400 * 60,
    invited_as: 400,
    is_multiuse: true,
    notify_referrer_on_join: false,
    link_url: url,
  });
});

test('invite_expires_in_minutes accepts null for no expiry, and rejects values below one', async () => {
  await link(realm.owner, { invite_expires_in_minutes: null });
  await link(realm.owner, { invite_expires_in_minutes: 5 });
  const dates = (await invites(realm.owner)).map((invite) => invite.expiry_date && invite.expiry_date - invite.invited);
  expect(dates).toEqual([null, 300]);
  for (const minutes of [0, -1, 'soon'])
    expect(refused(await realm.owner.post('/invites/multiuse', { invite_expires_in_minutes: minutes }))).toEqual(
      badRequest,
    );
});

test('only administrators and members of create_multiuse_invite_group can create links, and guests never can', async () => {
  await link(realm.owner);
  await link(realm.administrator);
  for (const who of ['moderator', 'member', 'guest'] as const)
    expect(refused(await realm[who].post('/invites/multiuse')), who).toEqual(badRequest);
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  await link(realm.member);
  expect(refused(await realm.guest.post('/invites/multiuse'))).toEqual(badRequest);
});

test('invite_as cannot exceed the role of the inviter', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const allowed: Record<string, number[]> = {
    owner: [100, 200, 300, 400, 600],
    administrator: [200, 300, 400, 600],
    moderator: [300, 400, 600],
    member: [400, 600],
  };
  for (const [who, roles] of Object.entries(allowed))
    for (const invite_as of [100, 200, 300, 400, 600]) {
      const { status } = await realm[who as 'owner'].post('/invites/multiuse', { invite_as });
      expect(status, `${who} ${invite_as}`).toBe(roles.includes(invite_as) ? 200 : 400);
    }
  expect(refused(await realm.owner.post('/invites/multiuse', { invite_as: 500 }))).toEqual(badRequest);
});

test('a link creates several accounts with its role, its groups and a working key', async () => {
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'crew',
    description: '',
    members: [],
  });
  const queue = await realm.guest.queue({ event_types: ['realm_user', 'user_group'] });
  const key = keyOf(await link(realm.owner, { invite_as: 300, group_ids: [group_id] }));
  const first = await join(key);
  const second = await join(key);
  expect([first.status, second.status]).toEqual([200, 200]);
  const ids = [first.body.user_id, second.body.user_id];
  const { members } = await realm.owner.ok('GET', '/users', { user_ids: ids });
  expect(members.map((user: Json) => user.role)).toEqual([300, 300]);
  expect((await realm.owner.ok('GET', `/user_groups/${group_id}/members`)).members).toEqual(ids);
  await queue.next(
    (event) => event.op === 'add_members' && event.group_id === group_id && event.user_ids[0] === ids[1],
  );
  const me = await realm.spectator.get('/users/me', {}, { authorization: authorizationOf(first.body) });
  expect(me.body.user_id).toBe(ids[0]);
});

test('joining is rejected for a used address, a weak password, a bad name or a wrong key', async () => {
  const key = keyOf(await link(realm.owner));
  for (const form of [
    { email: realm.member.email },
    { email: realm.member.email.toUpperCase() },
    { email: 'no address' },
    { password: 'short' },
    { full_name: 'x' },
  ])
    expect(refused(await join(key, form)), JSON.stringify(form)).toEqual(badRequest);
  expect(refused(await join('nothing'))).toEqual(badRequest);
});

test('an address outside the allowed domains cannot join', async () => {
  const key = keyOf(await link(realm.owner));
  await realm.owner.ok('POST', '/realm/domains', { domain: 'allowed.example', allow_subdomains: true });
  await realm.owner.ok('PATCH', '/realm', { emails_restricted_to_domains: true });
  expect(refused(await join(key, { email: 'a@natter.example' }))).toEqual(badRequest);
  const { body } = await join(key, { email: 'a@sub.allowed.example' });
  expect([body.code, body.is_mail_sent]).toEqual(['BAD_REQUEST', true]);
});

test('a link of one realm does not work in another', async () => {
  const key = keyOf(await link(realm.owner));
  const other = await openRealm();
  const form = { key, email: 'x@natter.example', full_name: 'Xaver', password: 'a long password' };
  expect(refused(await other.spectator.post('/join', form))).toEqual(badRequest);
  expect((await other.spectator.get(`//join/${key}`)).status).toBe(404);
  const [invite] = await invites(realm.owner);
  expect(refused(await other.owner.delete(`/invites/multiuse/${invite.id}`))).toEqual(badRequest);
});

test('an administrator can revoke a link of a member, and a revoked link does not create accounts', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const key = keyOf(await link(realm.member));
  const [invite] = await invites(realm.member);
  expect(refused(await realm.member2.delete(`/invites/multiuse/${invite.id}`))).toEqual(badRequest);
  expect(refused(await realm.member.delete(`/invites/${invite.id}`))).toEqual(badRequest);
  await realm.administrator.ok('DELETE', `/invites/multiuse/${invite.id}`);
  expect(refused(await realm.administrator.delete(`/invites/multiuse/${invite.id}`))).toEqual(badRequest);
  expect(refused(await join(key))).toEqual(badRequest);
  expect(await invites(realm.owner)).toEqual([]);
});

test('only owners can revoke an owner invitation', async () => {
  await link(realm.owner, { invite_as: 100 });
  const [invite] = await invites(realm.administrator);
  expect(refused(await realm.administrator.delete(`/invites/multiuse/${invite.id}`))).toEqual(badRequest);
  await realm.owner.ok('DELETE', `/invites/multiuse/${invite.id}`);
});

test('GET /invites returns all links to administrators and own links to others, and both receive invites_changed', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const watchers = await Promise.all(
    [realm.owner, realm.administrator, realm.member].map((client) =>
      client.queue({ event_types: ['invites_changed'] }),
    ),
  );
  const outsider = await realm.member2.queue({ event_types: ['invites_changed', 'message'] });
  await link(realm.member);
  for (const watcher of watchers) expect(await watcher.next(() => true)).toMatchObject({ type: 'invites_changed' });
  expect((await outsider.settle()).filter(({ type }) => type === 'invites_changed')).toEqual([]);
  expect((await invites(realm.member)).length).toBe(1);
  expect((await invites(realm.administrator)).length).toBe(1);
  expect(await invites(realm.member2)).toEqual([]);
});

test('a link can contain only groups to which its creator may add users', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const make = async (client: Client, name: string): Promise<number> =>
    (await client.ok('POST', '/user_groups/create', { name, description: '', members: [] })).group_id;
  const [own, foreign] = [await make(realm.member, 'own'), await make(realm.owner, 'foreign')];
  await link(realm.member, { group_ids: [own] });
  for (const group_ids of [[foreign], [own, foreign], [999_999], [groups['role:members']]])
    expect(refused(await realm.member.post('/invites/multiuse', { group_ids }))).toEqual(badRequest);
});

test('a link subscribes to the default channels or to channels to which its creator may add users', async () => {
  const make = async (name: string, form: Json = {}): Promise<number> =>
    (await realm.owner.ok('POST', '/channels/create', { name, subscribers: [realm.owner.user_id], ...form })).id;
  const [open, closed, byDefault] = [
    await make('open'),
    await make('closed', { invite_only: true }),
    await make('default', { is_default_stream: true }),
  ];
  const key = keyOf(await link(realm.owner, { stream_ids: [open, closed] }));
  const { body } = await join(key);
  const subscribed = async (user: number, channel: number): Promise<boolean> =>
    (await realm.owner.ok('GET', `/users/${user}/subscriptions/${channel}`)).is_subscribed;
  expect([await subscribed(body.user_id, open), await subscribed(body.user_id, closed)]).toEqual([true, true]);
  expect(await subscribed(body.user_id, byDefault)).toBe(false);
  const withDefaults = await join(keyOf(await link(realm.owner, { include_realm_default_subscriptions: true })));
  expect(await subscribed(withDefaults.body.user_id, byDefault)).toBe(true);
  const asGuest = { invite_as: 600, include_realm_default_subscriptions: true };
  const guest = await join(keyOf(await link(realm.owner, asGuest)));
  expect(await subscribed(guest.body.user_id, byDefault)).toBe(true);

  expect(refused(await realm.administrator.post('/invites/multiuse', { stream_ids: [closed] }))).toEqual(badRequest);
  expect(refused(await realm.administrator.post('/invites/multiuse', { stream_ids: [999_999] }))).toEqual(badRequest);
  await realm.owner.ok('PATCH', '/realm', {
    ...everyone('create_multiuse_invite_group'),
    can_add_subscribers_group: { new: groups['role:nobody'] },
  });
  expect(refused(await realm.member.post('/invites/multiuse', { stream_ids: [byDefault] }))).toEqual(badRequest);
  await link(realm.member, { include_realm_default_subscriptions: true });
});

test('a welcome text has at most 8000 characters', async () => {
  const form = (length: number) => ({ welcome_message_custom_text: 'x'.repeat(length) });
  await link(realm.owner, form(8000));
  expect(refused(await realm.owner.post('/invites/multiuse', form(8001)))).toEqual(badRequest);
});

test('a link of a deactivated user does not create accounts', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const person = await realm.person();
  const key = keyOf(await link(person));
  await realm.owner.ok('DELETE', `/users/${person.user_id}`);
  expect(refused(await join(key))).toEqual(badRequest);
});

test('the page of a link shows a form, reports errors and creates an account', async () => {
  const key = keyOf(await link(realm.owner));
  const shown = await realm.spectator.get(`//join/${key}/`);
  expect([shown.status, shown.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(shown.body).toContain('name="email"');
  const wrong = await realm.spectator.patiently('POST', `//join/${key}`, {
    email: 'page@natter.example',
    full_name: '<b>Paige</b>',
    password: 'a long password',
  });
  expect(wrong.status).toBe(400);
  expect(wrong.body).toContain('value="&lt;b&gt;Paige&lt;/b&gt;"');
  const right = await realm.spectator.patiently('POST', `//join/${key}`, {
    email: 'page@natter.example',
    full_name: 'Paige',
    password: 'a long password',
  });
  expect(right.status).toBe(200);
  const logged = await realm.spectator.post('/fetch_api_key', {
    username: 'page@natter.example',
    password: 'a long password',
  });
  expect((await userOf(logged.body.user_id)).full_name).toBe('Paige');
  expect((await realm.spectator.get('//join/nothing')).status).toBe(404);
});

test('a group or a channel that an invitation contains twice is joined once', async () => {
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'readers',
    description: '',
    members: [realm.owner.user_id],
  });
  const { id: channel } = await realm.owner.ok('POST', '/channels/create', { name: 'reading', subscribers: [] });
  const twice = { group_ids: [group_id, group_id], stream_ids: [channel, channel] };
  const { body, status } = await join(keyOf(await link(realm.owner, twice)));
  expect(status).toBe(200);
  const { members } = await realm.owner.ok('GET', `/user_groups/${group_id}/members`);
  expect(members).toEqual([realm.owner.user_id, body.user_id].sort((a, b) => a - b));
  const { subscribers } = await realm.owner.ok('GET', `/streams/${channel}/members`);
  expect(subscribers).toEqual([body.user_id]);
});

test('PATCH /invites/multiuse/{id} changes the given values and keeps the others', async () => {
  const [plain, secret] = await Promise.all(
    [false, true].map(async (is_private) => {
      const name = is_private ? 'secret' : 'plain';
      await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], invite_only: is_private });
      return (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id as number;
    }),
  );
  const url = await link(realm.administrator, { invite_as: 600, stream_ids: [plain], invite_expires_in_minutes: 60 });
  const [{ id, invited, ...before }] = await invites(realm.administrator);
  const queue = await realm.owner.queue({ event_types: ['invites_changed'] });
  const edit = (client: Client, form: Json) => client.patch(`/invites/multiuse/${id}`, form);
  expect((await edit(realm.administrator, { invite_as: 400 })).status).toBe(200);
  await queue.next(({ type }) => type === 'invites_changed');
  expect((await invites(realm.administrator))[0]).toEqual({ ...before, id, invited, invited_as: 400, link_url: url });
  const joined = await join(keyOf(url));
  expect(joined.status).toBe(200);
  expect((await userOf(joined.body.user_id)).role).toBe(400);
  const { subscribers } = await realm.owner.ok('GET', `/streams/${plain}/members`);
  expect(subscribers).toContain(joined.body.user_id);

  await edit(realm.administrator, { invite_expires_in_minutes: null, stream_ids: [] });
  expect((await invites(realm.administrator))[0].expiry_date).toBeNull();
  const later = await join(keyOf(url));
  expect((await realm.owner.ok('GET', `/streams/${plain}/members`)).subscribers).not.toContain(later.body.user_id);

  for (const form of [
    { invite_as: 100 },
    { invite_as: 500 },
    { stream_ids: [secret] },
    { stream_ids: [999_999] },
    { group_ids: [999_999] },
    { group_ids: [groups['role:administrators']] },
    { invite_expires_in_minutes: 0 },
  ])
    expect([form, refused(await edit(realm.administrator, form))]).toEqual([form, badRequest]);
  expect(refused(await edit(realm.member, { invite_as: 600 }))).toEqual(badRequest);
  const other = await openRealm();
  expect(refused(await edit(other.owner, { invite_as: 600 }))).toEqual(badRequest);
  expect((await invites(realm.administrator))[0].invited_as).toBe(400);
  await realm.administrator.ok('DELETE', `/invites/multiuse/${id}`);
  expect(refused(await edit(realm.administrator, { invite_as: 600 }))).toEqual(badRequest);
});

test('a user can edit their own links, and even an owner cannot extend a link beyond the rights of its creator', async () => {
  await realm.owner.ok('PATCH', '/realm', everyone('create_multiuse_invite_group'));
  const url = await link(realm.member);
  const [{ id }] = await invites(realm.member);
  expect((await realm.member.patch(`/invites/multiuse/${id}`, { invite_as: 600 })).status).toBe(200);
  expect(refused(await realm.member.patch(`/invites/multiuse/${id}`, { invite_as: 200 }))).toEqual(badRequest);
  expect(refused(await realm.member2.patch(`/invites/multiuse/${id}`, { invite_as: 400 }))).toEqual(badRequest);
  expect(refused(await realm.owner.patch(`/invites/multiuse/${id}`, { invite_as: 200 }))).toEqual(badRequest);
  expect((await realm.member.patch(`/invites/multiuse/${id}`, { invite_as: 400 })).status).toBe(200);
  expect((await join(keyOf(url))).status).toBe(200);
});
