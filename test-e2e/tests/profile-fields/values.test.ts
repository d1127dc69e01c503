import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
const ids: Record<string, number> = {};
beforeAll(async () => {
  realm = await openRealm();
  const fields: Json[] = [
    { name: 'short', field_type: 1 },
    { name: 'long', field_type: 2 },
    { name: 'option', field_type: 3, field_data: { v: { text: 'Vim', order: '1' } } },
    { name: 'date', field_type: 4 },
    { name: 'link', field_type: 5 },
    { name: 'people', field_type: 6 },
    {
      name: 'account',
      field_type: 7,
      field_data: { subtype: 'custom', url_pattern: 'https://x.example/%(username)s' },
    },
    { name: 'pronouns', field_type: 8 },
    { name: 'locked', field_type: 1, editable_by_user: false },
  ];
  for (const field of fields) ids[field.name] = (await realm.owner.ok('POST', '/realm/profile_fields', field)).id;
});

const own = async (): Promise<Json> => (await realm.member.ok('GET', '/users/me')).profile_data;
const set = (name: string, value: Json) =>
  realm.member.patch('/users/me/profile_data', { data: [{ id: ids[name], value }] });
const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];

test('only the last of several values for one field is stored, and is sent once', async () => {
  const [person, watcher] = [await realm.person(), await realm.person()];
  const queue = await watcher.queue({ event_types: ['realm_user'] });
  const data = ['one', 'two', 'three'].map((value) => ({ id: ids.short, value }));
  await person.ok('PATCH', '/users/me/profile_data', { data });
  await person.ok('PATCH', '/users/me/profile_data', { data: [{ id: ids.date, value: '1999-02-28' }] });
  await queue.next(({ person: { custom_profile_field } }) => custom_profile_field?.id === ids.date);
  const told = queue.seen.map((event) => event.person.custom_profile_field.value);
  expect(told).toEqual(['three', '1999-02-28']);
});

const people = (): Json[] => [
  ['short', '*hello*', { value: '*hello*', rendered_value: '<p><em>hello</em></p>' }],
  ['long', 'some\ntext', { value: 'some\ntext', rendered_value: '<p>some<br>\ntext</p>' }],
  ['option', 'v', { value: 'v' }],
  ['date', '1999-02-28', { value: '1999-02-28' }],
  ['link', 'https://natter.example/a?b=c', { value: 'https://natter.example/a?b=c' }],
  ['people', [realm.owner.user_id, realm.guest.user_id], { value: `[${realm.owner.user_id},${realm.guest.user_id}]` }],
  ['account', 'natter', { value: 'natter' }],
  ['pronouns', 'they/them', { value: 'they/them' }],
];

test('a value of each type is stored, sent to all users and returned to them and by a register', async () => {
  for (const [name, value, stored] of people()) {
    const queue = await realm.guest.queue({ event_types: ['realm_user'] });
    expect((await set(name, value)).status, name).toBe(200);
    const { person } = await queue.next((event) => event.op === 'update');
    expect(person).toEqual({ user_id: realm.member.user_id, custom_profile_field: { id: ids[name], ...stored } });
  }
  const expected = Object.fromEntries(people().map(([name, , stored]) => [ids[name], stored]));
  expect(await own()).toEqual(expected);
  const { members } = await realm.guest.ok('GET', '/users', { include_custom_profile_fields: true });
  expect(members.find((user: Json) => user.user_id === realm.member.user_id).profile_data).toEqual(expected);
  const state = await realm.guest.ok('POST', '/register', { fetch_event_types: ['realm_user'] });
  expect(state.realm_users.find((user: Json) => user.user_id === realm.member.user_id).profile_data).toEqual(expected);
});

test('a user field also accepts its value as JSON text', async () => {
  expect((await set('people', `[${realm.guest.user_id}]`)).status).toBe(200);
  expect((await own())[ids.people as number]).toEqual({ value: `[${realm.guest.user_id}]` });
});

test('values that do not fit their type are rejected', async () => {
  const wrong: [string, Json][] = [
    ['short', 'x'.repeat(51)],
    ['long', 'x'.repeat(501)],
    ['option', 'nano'],
    ['date', '1999-02-30'],
    ['date', '28.2.1999'],
    ['link', 'natter'],
    ['link', 'javascript:alert(1)'],
    ['people', [999_999]],
    ['people', 'somebody'],
    ['account', 'x'.repeat(51)],
    ['pronouns', 'x'.repeat(51)],
    ['short', [1]],
  ];
  for (const [name, value] of wrong) expect(refused(await set(name, value)), `${name} ${value}`).toEqual(badRequest);
  const unknown = await realm.member.patch('/users/me/profile_data', { data: [{ id: 999_999, value: 'x' }] });
  expect(refused(unknown)).toEqual(badRequest);
});

test('one invalid value among several prevents all from being stored', async () => {
  const before = await own();
  const data = [
    { id: ids.short, value: 'other' },
    { id: ids.date, value: 'never' },
  ];
  expect(refused(await realm.member.patch('/users/me/profile_data', { data }))).toEqual(badRequest);
  expect(await own()).toEqual(before);
});

test('administrators can edit a field that users may not edit', async () => {
  expect(refused(await set('locked', 'mine'))).toEqual(badRequest);
  const data = [{ id: ids.locked, value: 'theirs' }];
  await realm.administrator.ok('PATCH', `/users/${realm.member.user_id}`, { profile_data: data });
  expect((await own())[ids.locked as number].value).toBe('theirs');
  expect(refused(await realm.member.delete('/users/me/profile_data', { data: [ids.locked] }))).toEqual(badRequest);
});

test('an empty text, null and DELETE remove a value', async () => {
  for (const clear of [
    () => set('pronouns', ''),
    () => set('pronouns', null),
    () => realm.member.delete('/users/me/profile_data', { data: [ids.pronouns] }),
  ]) {
    await set('pronouns', 'she/her');
    const queue = await realm.guest.queue({ event_types: ['realm_user'] });
    expect((await clear()).status).toBe(200);
    const { person } = await queue.next(() => true);
    expect(person.custom_profile_field).toEqual({ id: ids.pronouns, value: null });
    expect(await own()).not.toHaveProperty(String(ids.pronouns));
  }
});

test('an unchanged value does not send an event', async () => {
  await set('short', 'same');
  const queue = await realm.member.queue({ event_types: ['realm_user', 'message'] });
  await set('short', 'same');
  expect(await queue.settle()).toEqual([]);
});

test('a register with more profile data of one user than NATS carries in a message works, also for other realms', async () => {
  const [crowded, other] = await Promise.all([openRealm(), openRealm()]);
  const { owner, member, guest } = crowded;
  const value = '😀'.repeat(500);
  const data: Json[] = [];
  for (let index = 0; index < 20; index++) {
    const { id } = await owner.ok('POST', '/realm/profile_fields', { name: `field ${index}`, field_type: 2 });
    data.push({ id, value });
  }
  await member.ok('PATCH', '/users/me/profile_data', { data });
  const registers = [guest, owner].map((client) =>
    client.send('POST', '/register', { fetch_event_types: ['realm_user'] }),
  );
  const meanwhile = [0, 1, 2].map(() => other.member.send('GET', `/users/${other.owner.user_id}`));
  for (const { status, body } of await Promise.all(registers)) {
    expect(status).toBe(200);
    const { profile_data } = body.realm_users.find(({ user_id }: Json) => user_id === member.user_id);
    expect(Object.values(profile_data).map((one: Json) => one.value)).toEqual(Array(20).fill(value));
    expect(JSON.stringify(profile_data).length).toBeGreaterThan(1024 * 1024);
  }
  for (const { status } of await Promise.all(meanwhile)) expect(status).toBe(200);
});
