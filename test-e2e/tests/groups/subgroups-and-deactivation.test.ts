import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

let count = 0;
const create = async (form: Json = {}, client: Client = realm.owner): Promise<number> =>
  (
    await client.ok('POST', '/user_groups/create', {
      name: `group ${++count}`,
      description: '',
      members: [],
      ...form,
    })
  ).group_id;
const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];
const subgroups = async (id: number, direct = true): Promise<number[]> =>
  (await realm.guest.ok('GET', `/user_groups/${id}/subgroups`, { direct_subgroup_only: direct })).subgroups;

test('POST subgroups adds and removes subgroups with add_subgroups and remove_subgroups events (4.16)', async () => {
  const [a, b, c] = [await create(), await create(), await create()];
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  await realm.owner.ok('POST', `/user_groups/${a}/subgroups`, { add: [b, c] });
  await realm.owner.ok('POST', `/user_groups/${a}/subgroups`, { delete: [b] });
  expect(await subgroups(a)).toEqual([c]);
  await queue.next((event) => event.op === 'remove_subgroups');
  expect(queue.seen).toMatchObject([
    { op: 'add_subgroups', group_id: a, direct_subgroup_ids: [b, c] },
    { op: 'remove_subgroups', group_id: a, direct_subgroup_ids: [b] },
  ]);
  await realm.owner.ok('POST', `/user_groups/${c}/subgroups`, { add: [b] });
  expect(await subgroups(a, false)).toEqual([b, c].sort((x, y) => x - y));
});

test('POST subgroups rejects empty changes, cycles, and present, missing or unknown subgroups', async () => {
  const [a, b, c] = [await create(), await create(), await create()];
  await realm.owner.ok('POST', `/user_groups/${a}/subgroups`, { add: [b] });
  await realm.owner.ok('POST', `/user_groups/${b}/subgroups`, { add: [c] });
  const cases: [number, Json][] = [
    [a, {}],
    [a, { add: [b] }],
    [a, { delete: [c] }],
    [a, { add: [999_999] }],
    [a, { add: [a] }],
    [c, { add: [a] }],
    [b, { add: [a] }],
  ];
  for (const [id, form] of cases)
    expect(refused(await realm.owner.post(`/user_groups/${id}/subgroups`, form)), JSON.stringify(form)).toEqual(
      badRequest,
    );
  for (const who of ['administrator', 'moderator', 'member', 'guest'] as const)
    expect(refused(await realm[who].post(`/user_groups/${a}/subgroups`, { add: [c] })), who).toEqual(badRequest);
});

test('of two concurrent requests that nest two groups in each other, one is rejected', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = [await create(), await create()];
    const answers = await Promise.all([
      realm.owner.post(`/user_groups/${a}/subgroups`, { add: [b] }),
      realm.owner.post(`/user_groups/${b}/subgroups`, { add: [a] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  }
});

test('an administrator can deactivate an unused group, and the event depends on the client capability', async () => {
  const id = await create({}, realm.member);
  for (const who of ['moderator', 'member2', 'guest'] as const)
    expect(refused(await realm[who].post(`/user_groups/${id}/deactivate`)), who).toEqual(badRequest);
  const knowing = await realm.guest.queue({
    event_types: ['user_group'],
    client_capabilities: { include_deactivated_groups: true },
  });
  const plain = await realm.guest.queue({ event_types: ['user_group'] });
  await realm.administrator.ok('POST', `/user_groups/${id}/deactivate`);
  expect(await knowing.next(() => true)).toEqual({
    type: 'user_group',
    op: 'update',
    group_id: id,
    data: { deactivated: true },
    id: expect.any(Number),
  });
  expect(await plain.next(() => true)).toEqual({
    type: 'user_group',
    op: 'remove',
    group_id: id,
    id: expect.any(Number),
  });
  const listed = async (form: Json): Promise<number[]> =>
    (await realm.guest.ok('GET', '/user_groups', form)).user_groups.map((group: Json) => group.id);
  expect(await listed({})).not.toContain(id);
  expect(await listed({ include_deactivated_groups: true })).toContain(id);
  expect(refused(await realm.administrator.post(`/user_groups/${id}/deactivate`))).toEqual(badRequest);

  await realm.member.ok('PATCH', `/user_groups/${id}`, { name: 'asleep' });
  expect((await knowing.next(() => true)).data).toEqual({ name: 'asleep' });
  await realm.administrator.ok('PATCH', `/user_groups/${id}`, { deactivated: false });
  expect((await knowing.next(() => true)).data).toEqual({ deactivated: false });
  expect((await plain.next(() => true)).group).toMatchObject({ id, name: 'asleep', deactivated: false });
  expect(await listed({})).toContain(id);
});

test('a register includes deactivated groups only for clients with include_deactivated_groups', async () => {
  const id = await create();
  await realm.owner.ok('POST', `/user_groups/${id}/deactivate`);
  const ids = async (include: boolean): Promise<number[]> => {
    const state = await realm.member.ok('POST', '/register', {
      fetch_event_types: ['realm_user_groups'],
      client_capabilities: { include_deactivated_groups: include },
    });
    return state.realm_user_groups.map((group: Json) => group.id);
  };
  expect(await ids(true)).toContain(id);
  expect(await ids(false)).not.toContain(id);
});

test('a deactivated group cannot be used, but its members and subgroups can be changed (level 391)', async () => {
  const [id, other] = [await create(), await create()];
  await realm.owner.ok('POST', `/user_groups/${id}/deactivate`);
  const form = { event_types: ['user_group'] };
  const knowing = await realm.guest.queue({ ...form, client_capabilities: { include_deactivated_groups: true } });
  const plain = await realm.guest.queue(form);
  const user_ids = [realm.member.user_id];
  const members = async (): Promise<number[]> =>
    (await realm.guest.ok('GET', `/user_groups/${id}/members`, { direct_member_only: true })).members;
  await realm.owner.ok('POST', `/user_groups/${id}/members`, { add: user_ids });
  expect(await members()).toEqual(user_ids);
  await realm.owner.ok('POST', `/user_groups/${id}/members`, { delete: user_ids });
  expect(await members()).toEqual([]);
  expect(refused(await realm.owner.post(`/user_groups/${other}/subgroups`, { add: [id] }))).toEqual(badRequest);
  expect(refused(await realm.owner.patch('/realm', { can_create_groups: { new: id } }))).toEqual(badRequest);
  expect(refused(await realm.owner.patch(`/user_groups/${other}`, { can_join_group: { new: id } }))).toEqual(
    badRequest,
  );
  await realm.owner.ok('POST', `/user_groups/${id}/subgroups`, { add: [other] });
  expect(await subgroups(id)).toEqual([other]);
  await knowing.next(({ op }) => op === 'add_subgroups');
  expect(knowing.seen).toMatchObject([
    { op: 'add_members', group_id: id, user_ids },
    { op: 'remove_members', group_id: id, user_ids },
    { op: 'add_subgroups', group_id: id, direct_subgroup_ids: [other] },
  ]);
  await realm.owner.ok('PATCH', `/user_groups/${other}`, { description: 'last' });
  await plain.next(({ op }) => op === 'update');
  expect(plain.seen.map(({ group_id }) => group_id)).toEqual([other]);
});

test('a group in use cannot be deactivated, and objections name the realm, supergroups and other groups', async () => {
  const id = await create();
  const [above, beside] = [await create({ subgroups: [id] }), await create({ can_join_group: id })];
  const set = { direct_members: [realm.owner.user_id], direct_subgroups: [id] };
  await realm.owner.ok('PATCH', '/realm', {
    can_create_groups: { new: set },
    can_create_public_channel_group: { new: id },
  });
  const { status, body } = await realm.owner.post(`/user_groups/${id}/deactivate`);
  expect([status, body.code]).toEqual([400, 'CANNOT_DEACTIVATE_GROUP_IN_USE']);
  body.objections[0].settings.sort();
  expect(body.objections).toEqual([
    { type: 'realm', settings: ['can_create_groups', 'can_create_public_channel_group'] },
    { type: 'subgroup', supergroup_ids: [above] },
    { type: 'user_group', group_id: beside, settings: ['can_join_group'] },
  ]);
  const members = (await realm.owner.ok('GET', '/user_groups')).user_groups.find(
    (group: Json) => group.name === 'role:members',
  ).id;
  await realm.owner.ok('PATCH', '/realm', {
    can_create_groups: { new: members },
    can_create_public_channel_group: { new: members },
  });
  await realm.owner.ok('POST', `/user_groups/${above}/subgroups`, { delete: [id] });
  await realm.owner.ok('POST', `/user_groups/${beside}/deactivate`);
  await realm.owner.ok('POST', `/user_groups/${id}/deactivate`);
});

test('of a concurrent assignment and deactivation of a group, exactly one is rejected', async () => {
  for (let round = 0; round < 8; round++) {
    const [id, other] = [await create(), await create()];
    const [assigned, deactivated] = await Promise.all([
      realm.owner.patch(`/user_groups/${other}`, { can_join_group: { new: id } }),
      realm.owner.post(`/user_groups/${id}/deactivate`),
    ]);
    expect([assigned.status, deactivated.status].sort(), JSON.stringify([assigned.body, deactivated.body])).toEqual([
      200, 400,
    ]);
  }
});

test('a group that a channel uses cannot be deactivated, even if the channel is changed concurrently', async () => {
  const used = await create();
  const { id: channel } = await realm.owner.ok('POST', '/channels/create', {
    name: 'used',
    subscribers: [realm.owner.user_id],
    can_send_message_group: used,
  });
  const { body } = await realm.owner.post(`/user_groups/${used}/deactivate`);
  expect([body.code, body.objections]).toEqual([
    'CANNOT_DEACTIVATE_GROUP_IN_USE',
    [{ type: 'channel', channel_id: channel, settings: ['can_send_message_group'] }],
  ]);
  for (let round = 0; round < 8; round++) {
    const id = await create();
    const [assigned, deactivated] = await Promise.all([
      realm.owner.patch(`/streams/${channel}`, { can_send_message_group: { new: id } }),
      realm.owner.post(`/user_groups/${id}/deactivate`),
    ]);
    expect([assigned.status, deactivated.status].sort(), JSON.stringify([assigned.body, deactivated.body])).toEqual([
      200, 400,
    ]);
  }
});

test('a restored channel names no group that was deactivated while it was archived', async () => {
  const { owner, member } = realm;
  const [gone, kept] = [await create(), await create()];
  const { id } = await owner.ok('POST', '/channels/create', {
    name: 'restored',
    subscribers: [owner.user_id, member.user_id],
    can_send_message_group: gone,
    can_add_subscribers_group: gone,
    can_administer_channel_group: { direct_members: [member.user_id], direct_subgroups: [gone] },
    can_resolve_topics_group: { direct_members: [], direct_subgroups: [gone, kept] },
    can_move_messages_within_channel_group: kept,
  });
  await owner.ok('DELETE', `/streams/${id}`);
  await owner.ok('POST', `/user_groups/${gone}/deactivate`);
  const queue = await member.queue({ event_types: ['stream'] });
  // The user who restores the channel administers it, but not the realm.
  await member.ok('PATCH', `/streams/${id}`, { is_archived: false });
  const groups = (await owner.ok('GET', '/user_groups')).user_groups;
  const idOf = (name: string): number => groups.find((group: Json) => group.name === name).id;
  const expected: Json = {
    can_send_message_group: idOf('role:administrators'),
    can_add_subscribers_group: idOf('role:nobody'),
    can_administer_channel_group: { direct_members: [member.user_id], direct_subgroups: [] },
    can_resolve_topics_group: kept,
  };
  const { stream } = await member.ok('GET', `/streams/${id}`);
  expect(stream).toMatchObject({ ...expected, can_move_messages_within_channel_group: kept });
  await queue.next(({ property }) => property === 'can_send_message_group');
  const told = queue.seen.filter(({ property }) => property in expected);
  expect(Object.fromEntries(told.map(({ property, value }) => [property, value]))).toEqual(expected);
  expect(told).toHaveLength(Object.keys(expected).length);
  expect((await owner.post(`/user_groups/${kept}/deactivate`)).body.code).toBe('CANNOT_DEACTIVATE_GROUP_IN_USE');
});

test('a channel restored while its group is deactivated does not keep the group', async () => {
  const { owner } = realm;
  for (let round = 0; round < 8; round++) {
    const used = await create();
    const form = { name: `raced ${round}`, subscribers: [owner.user_id], can_send_message_group: used };
    const { id } = await owner.ok('POST', '/channels/create', form);
    await owner.ok('DELETE', `/streams/${id}`);
    const [restored, deactivated] = await Promise.all([
      owner.patch(`/streams/${id}`, { is_archived: false }),
      owner.post(`/user_groups/${used}/deactivate`),
    ]);
    expect(restored.status, JSON.stringify(restored.body)).toBe(200);
    const { stream } = await owner.ok('GET', `/streams/${id}`);
    expect([stream.can_send_message_group === used, deactivated.status]).toEqual(
      deactivated.status === 200 ? [false, 200] : [true, 400],
    );
  }
});
