import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let system: Record<string, number>;
beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  system = Object.fromEntries(user_groups.map((group: Json) => [group.name, group.id]));
});

let count = 0;
const create = async (client: Client, form: Json = {}): Promise<number> =>
  (
    await client.ok('POST', '/user_groups/create', {
      name: `group ${++count}`,
      description: 'a group',
      members: [],
      ...form,
    })
  ).group_id;
const find = async (id: number): Promise<Json> =>
  (await realm.owner.ok('GET', '/user_groups', { include_deactivated_groups: true })).user_groups.find(
    (group: Json) => group.id === id,
  );
const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];

test('a new group is managed by its creator, and all users may leave and mention it, but not join it', async () => {
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  const id = await create(realm.member, { members: [realm.member2.user_id], subgroups: [system['role:owners']] });
  const creator = { direct_members: [realm.member.user_id], direct_subgroups: [] };
  const record = {
    id,
    name: `group ${count}`,
    description: 'a group',
    date_created: expect.any(Number),
    creator_id: realm.member.user_id,
    members: [realm.member2.user_id],
    direct_subgroup_ids: [system['role:owners']],
    is_system_group: false,
    deactivated: false,
    can_add_members_group: creator,
    can_manage_group: creator,
    can_join_group: system['role:nobody'],
    can_remove_members_group: system['role:nobody'],
    can_leave_group: system['role:everyone'],
    can_mention_group: system['role:everyone'],
  };
  expect(await find(id)).toEqual(record);
  expect(await queue.next((event) => event.op === 'add')).toMatchObject({ type: 'user_group', group: record });
});

test('can_create_groups decides which members may create groups, and guests never may', async () => {
  for (const who of ['owner', 'administrator', 'moderator', 'member'] as const) await create(realm[who]);
  const form = { name: 'by a guest', description: '', members: [] };
  expect(refused(await realm.guest.post('/user_groups/create', form))).toEqual(badRequest);
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: system['role:administrators'] } });
  expect(refused(await realm.member.post('/user_groups/create', form))).toEqual(badRequest);
  await create(realm.administrator);
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: system['role:members'] } });
});

test('a group name must be a unique single line of at most 100 characters without a reserved prefix', async () => {
  for (const name of [
    '',
    '  ',
    'x'.repeat(101),
    'a\nb',
    'a\u2028b',
    '@team',
    'role:x',
    'user:1',
    'stream:1',
    'channel:1',
  ])
    expect(
      refused(await realm.owner.post('/user_groups/create', { name, description: '', members: [] })),
      name,
    ).toEqual(badRequest);
  await create(realm.owner, { name: 'taken' });
  expect(
    refused(await realm.owner.post('/user_groups/create', { name: 'taken', description: '', members: [] })),
  ).toEqual(badRequest);
});

test('members must be active users of the realm', async () => {
  const other = await openRealm();
  for (const members of [[999_999], [other.member.user_id]])
    expect(refused(await realm.owner.post('/user_groups/create', { name: 'no', description: '', members }))).toEqual(
      badRequest,
    );
});

test('only managers and owners can rename a group, and the event contains the changes', async () => {
  const id = await create(realm.member);
  expect(refused(await realm.member.patch(`/user_groups/${id}`))).toEqual(badRequest);
  for (const who of ['administrator', 'moderator', 'member2', 'guest'] as const)
    expect(refused(await realm[who].patch(`/user_groups/${id}`, { name: 'mine' })), who).toEqual(badRequest);
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  await realm.member.ok('PATCH', `/user_groups/${id}`, { name: 'renamed', description: 'new' });
  const event = await queue.next(() => true);
  expect(event).toMatchObject({ op: 'update', group_id: id, data: { name: 'renamed', description: 'new' } });
  await realm.owner.ok('PATCH', `/user_groups/${id}`, { name: 'by the owner' });
  expect((await find(id)).name).toBe('by the owner');
});

test('a wrong {old} value of a group permission returns EXPECTATION_MISMATCH, and a change sends an event', async () => {
  const id = await create(realm.member);
  const wrong = { can_join_group: { new: system['role:members'], old: system['role:everyone'] } };
  expect(refused(await realm.member.patch(`/user_groups/${id}`, wrong))).toEqual([400, 'EXPECTATION_MISMATCH']);
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  const right = { can_join_group: { new: system['role:members'], old: system['role:nobody'] } };
  await realm.member.ok('PATCH', `/user_groups/${id}`, right);
  expect((await queue.next(() => true)).data).toEqual({ can_join_group: system['role:members'] });
});

test('adding and removing members requires the permission to do so or to manage the group', async () => {
  const id = await create(realm.member);
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  const path = `/user_groups/${id}/members`;
  expect(refused(await realm.member2.post(path, { add: [realm.guest.user_id] }))).toEqual(badRequest);
  await realm.member.ok('POST', path, { add: [realm.guest.user_id, realm.member2.user_id] });
  expect(refused(await realm.member.post(path, { add: [realm.guest.user_id] }))).toEqual(badRequest);
  expect((await find(id)).members).toEqual([realm.member2.user_id, realm.guest.user_id]);
  expect(refused(await realm.member2.post(path, { delete: [realm.guest.user_id] }))).toEqual(badRequest);
  await realm.owner.ok('POST', path, { delete: [realm.guest.user_id] });
  expect(refused(await realm.owner.post(path, { delete: [realm.guest.user_id] }))).toEqual(badRequest);
  expect(refused(await realm.owner.post(path, {}))).toEqual(badRequest);
  await queue.next((event) => event.op === 'remove_members');
  expect(queue.seen.map((event) => [event.op, event.user_ids])).toEqual([
    ['add_members', [realm.member2.user_id, realm.guest.user_id]],
    ['remove_members', [realm.guest.user_id]],
  ]);
});

test('joining requires can_join_group and leaving can_leave_group, and guests can never join', async () => {
  const id = await create(realm.owner, { can_join_group: system['role:members'] });
  const path = `/user_groups/${id}/members`;
  await realm.member.ok('POST', path, { add: [realm.member.user_id] });
  expect(refused(await realm.member.post(path, { add: [realm.member2.user_id] }))).toEqual(badRequest);
  expect(refused(await realm.guest.post(path, { add: [realm.guest.user_id] }))).toEqual(badRequest);
  await realm.member.ok('POST', path, { delete: [realm.member.user_id] });
  await realm.owner.ok('PATCH', `/user_groups/${id}`, { can_leave_group: { new: system['role:nobody'] } });
  await realm.member.ok('POST', path, { add: [realm.member.user_id] });
  expect(refused(await realm.member.post(path, { delete: [realm.member.user_id] }))).toEqual(badRequest);
});

test('a permission that a group grants applies as soon as the membership has changed', async () => {
  const id = await create(realm.owner);
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: id } });
  const form = () => ({ name: `by right ${++count}`, description: '', members: [] });
  expect(refused(await realm.member.post('/user_groups/create', form()))).toEqual(badRequest);
  await realm.owner.ok('POST', `/user_groups/${id}/members`, { add: [realm.member.user_id] });
  await realm.member.ok('POST', '/user_groups/create', form());
  await realm.owner.ok('POST', `/user_groups/${id}/members`, { delete: [realm.member.user_id] });
  expect(refused(await realm.member.post('/user_groups/create', form()))).toEqual(badRequest);
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: system['role:members'] } });
});

test('GET members includes members of subgroups unless direct_member_only is set, also for one user', async () => {
  const inner = await create(realm.owner, { members: [realm.member.user_id] });
  const outer = await create(realm.owner, { members: [realm.guest.user_id], subgroups: [inner] });
  const path = `/user_groups/${outer}/members`;
  expect((await realm.guest.ok('GET', path)).members).toEqual([realm.member.user_id, realm.guest.user_id]);
  expect((await realm.guest.ok('GET', path, { direct_member_only: true })).members).toEqual([realm.guest.user_id]);
  const member = `${path}/${realm.member.user_id}`;
  expect((await realm.guest.ok('GET', member)).is_user_group_member).toBe(true);
  expect((await realm.guest.ok('GET', member, { direct_member_only: true })).is_user_group_member).toBe(false);
  expect(refused(await realm.guest.get(`${path}/999999`))).toEqual(badRequest);
  expect(refused(await realm.guest.get('/user_groups/999999/members'))).toEqual(badRequest);
});

test('a group of another realm returns the same error as a missing group', async () => {
  const other = await openRealm();
  const id = await create(realm.owner);
  for (const path of [`/user_groups/${id}/members`, `/user_groups/${id}/subgroups`]) {
    const foreign = await other.owner.get(path);
    const missing = await other.owner.get(path.replace(String(id), '999999'));
    expect([foreign.status, foreign.body]).toEqual([missing.status, missing.body]);
    expect(foreign.status).toBe(400);
  }
  expect(refused(await other.owner.post(`/user_groups/${id}/deactivate`))).toEqual(badRequest);
  expect(refused(await other.owner.patch(`/user_groups/${id}`, { name: 'x' }))).toEqual(badRequest);
});

test('a group change that is repeated under one key returns the same response and has its effect once', async () => {
  const key = { 'idempotency-key': `again-${Math.random()}` };
  const id = await create(realm.owner);
  const twice = async (method: string, path: string, form: Json): Promise<Json[]> => {
    const headers = { 'idempotency-key': `${method} ${path} ${JSON.stringify(form)}` };
    const again = () => realm.owner.patiently(method, path, form, headers);
    return [await again(), await again()];
  };
  for (const [method, path, form] of [
    ['POST', `/user_groups/${id}/members`, { add: [realm.member.user_id] }],
    ['POST', `/user_groups/${id}/members`, { delete: [realm.member.user_id] }],
    ['PATCH', `/user_groups/${id}`, { name: 'again' }],
    ['POST', `/user_groups/${id}/deactivate`, {}],
    ['PATCH', `/user_groups/${id}`, { deactivated: false }],
    ['PATCH', `/user_groups/${id}`, { deactivated: true, description: 'asleep' }],
  ] as const)
    expect(
      (await twice(method, path, form)).map(({ status }) => status),
      `${method} ${path}`,
    ).toEqual([200, 200]);
  const form = { name: 'made once', description: '', members: [] };
  const first = await realm.owner.post('/user_groups/create', form, key);
  const second = await realm.owner.post('/user_groups/create', form, key);
  expect(second.body).toEqual(first.body);
});

test('a queue with realm_user_groups also receives group events, as in the specification', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_user_groups'] });
  expect(queue.state.realm_user_groups.length).toBeGreaterThan(7);
  const id = await create(realm.owner);
  expect(await queue.next(() => true)).toMatchObject({ type: 'user_group', op: 'add', group: { id } });
});
