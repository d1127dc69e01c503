import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm();
});

const create = async (form: Json): Promise<number> => (await realm.owner.ok('POST', '/realm/profile_fields', form)).id;
const fields = async (): Promise<Json[]> => (await realm.guest.ok('GET', '/realm/profile_fields')).custom_fields;
const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];

test('each of the 8 types can be created with its defaults, and is sent, listed and returned by a register', async () => {
  const queue = await realm.guest.queue({ event_types: ['custom_profile_fields'] });
  const options = { 0: { text: 'Vim', order: '1' }, 1: { text: 'Emacs', order: '2' } };
  const made: [Json, string][] = [
    [{ name: 'Phone', field_type: 1 }, ''],
    [{ name: 'Biography', field_type: 2, hint: 'Who you are' }, ''],
    [{ name: 'Editor', field_type: 3, field_data: options }, JSON.stringify(options)],
    [{ name: 'Birthday', field_type: 4, required: true }, ''],
    [{ name: 'Site', field_type: 5, editable_by_user: false }, ''],
    [{ name: 'Mentor', field_type: 6 }, ''],
    [{ field_type: 7, field_data: { subtype: 'github' } }, '{"subtype":"github"}'],
    [{ name: 'Pronouns', field_type: 8, display_in_profile_summary: true }, ''],
  ];
  const ids: number[] = [];
  for (const [form] of made) ids.push(await create(form));
  const expected = made.map(([form, field_data], index) => ({
    id: ids[index],
    type: form.field_type,
    order: index + 1,
    name: form.name ?? 'GitHub username',
    hint: form.hint ?? '',
    field_data,
    display_in_profile_summary: form.display_in_profile_summary ?? false,
    required: form.required ?? false,
    editable_by_user: form.editable_by_user ?? true,
  }));
  expect(await fields()).toEqual(expected);
  const event = await queue.next((seen) => seen.fields.length === 8);
  expect(event.fields).toEqual(expected);
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['custom_profile_fields'] });
  expect(state.custom_profile_fields).toEqual(expected);
  expect(Object.entries(state.custom_profile_field_types).map(([name, type]: Json) => [name, type.id])).toEqual([
    ['SHORT_TEXT', 1],
    ['LONG_TEXT', 2],
    ['SELECT', 3],
    ['DATE', 4],
    ['URL', 5],
    ['USER', 6],
    ['EXTERNAL_ACCOUNT', 7],
    ['PRONOUNS', 8],
  ]);
});

test('only administrators create, change, order and remove fields', async () => {
  const id = await create({ name: 'Phone', field_type: 1 });
  for (const who of ['moderator', 'member', 'guest'] as const)
    for (const attempt of [
      realm[who].post('/realm/profile_fields', { name: 'x', field_type: 1 }),
      realm[who].patch(`/realm/profile_fields/${id}`, { name: 'x' }),
      realm[who].patch('/realm/profile_fields', { order: [id] }),
      realm[who].delete(`/realm/profile_fields/${id}`),
    ])
      expect(refused(await attempt), who).toEqual(badRequest);
  await realm.administrator.ok('POST', '/realm/profile_fields', { name: 'y', field_type: 1 });
});

test('invalid definitions are rejected', async () => {
  await create({ name: 'Taken', field_type: 1 });
  const wrong: Json[] = [
    { name: '', field_type: 1 },
    { field_type: 1 },
    { name: 'x'.repeat(41), field_type: 1 },
    { name: 'x', hint: 'x'.repeat(81), field_type: 1 },
    { name: 'Taken', field_type: 2 },
    { name: 'x', field_type: 0 },
    { name: 'x', field_type: 9 },
    { name: 'x', field_type: 3 },
    { name: 'x', field_type: 3, field_data: {} },
    { name: 'x', field_type: 3, field_data: { a: { text: '', order: '1' } } },
    { name: 'x', field_type: 3, field_data: { a: { text: 'A' } } },
    { name: 'x', field_type: 3, field_data: { a: { text: 'A', order: '1' }, b: { text: 'A', order: '2' } } },
    { name: 'x', field_type: 7 },
    { name: 'x', field_type: 7, field_data: { subtype: 'nowhere' } },
    { name: 'x', field_type: 7, field_data: { subtype: 'custom' } },
    { name: 'x', field_type: 7, field_data: { subtype: 'custom', url_pattern: 'https://example.org/' } },
    { name: 'x', field_type: 2, display_in_profile_summary: true },
    { name: 'x', field_type: 6, display_in_profile_summary: true },
  ];
  for (const form of wrong)
    expect(refused(await realm.owner.post('/realm/profile_fields', form)), JSON.stringify(form)).toEqual(badRequest);
  expect(refused(await realm.owner.post('/realm/profile_fields', { name: 'x' }))).toEqual([
    400,
    'REQUEST_VARIABLE_MISSING',
  ]);
  expect((await fields()).length).toBe(1);
});

test('at most two fields can be in the summary, even if they are created concurrently', async () => {
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      realm.owner.post('/realm/profile_fields', { name, field_type: 1, display_in_profile_summary: true }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
  const hidden = await create({ name: 'e', field_type: 1 });
  expect(
    refused(await realm.owner.patch(`/realm/profile_fields/${hidden}`, { display_in_profile_summary: true })),
  ).toEqual(badRequest);
});

test('the order must name all fields, and the last place of a repeated one counts', async () => {
  const [a, b, c] = [
    await create({ name: 'a', field_type: 1 }),
    await create({ name: 'b', field_type: 1 }),
    await create({ name: 'c', field_type: 1 }),
  ];
  for (const order of [
    [a, b],
    [a, b, b],
    [a, b, 999_999],
    [a, b, c, 999_999],
  ])
    expect(refused(await realm.owner.patch('/realm/profile_fields', { order }))).toEqual(badRequest);
  await realm.owner.ok('PATCH', '/realm/profile_fields', { order: [c, a, b] });
  expect((await fields()).map((field) => [field.id, field.order])).toEqual([
    [c, 1],
    [a, 2],
    [b, 3],
  ]);
  await realm.owner.ok('PATCH', '/realm/profile_fields', { order: [a, b, c, a] });
  expect((await fields()).map(({ id }) => id)).toEqual([b, c, a]);
});

test('only how an account of a known service is shown can change', async () => {
  const field_data = { subtype: 'github' };
  const id = await create({ field_type: 7, field_data });
  const { name, hint } = (await fields())[0] ?? {};
  const change = (form: Json) => realm.owner.patch(`/realm/profile_fields/${id}`, form);
  for (const form of [{ name: 'GitHub' }, { hint: 'Your name' }, { field_data: { subtype: 'twitter' } }]) {
    const { status, body } = await change(form);
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Default custom field cannot be updated.']);
  }
  expect((await change({ name, hint, field_data, display_in_profile_summary: true })).status).toBe(200);
  expect(await fields()).toMatchObject([
    { id, name, hint, field_data: JSON.stringify(field_data), display_in_profile_summary: true },
  ]);
  const custom = { subtype: 'custom', url_pattern: 'https://example.org/%(username)s' };
  const own = await create({ name: 'Forge', field_type: 7, field_data: custom });
  await realm.owner.ok('PATCH', `/realm/profile_fields/${own}`, { name: 'Our forge' });
});

test('removing an option or a field removes its values', async () => {
  const id = await create({
    name: 'Editor',
    field_type: 3,
    field_data: { v: { text: 'Vim', order: '1' }, e: { text: 'Emacs', order: '2' } },
  });
  await realm.member.ok('PATCH', '/users/me/profile_data', { data: [{ id, value: 'v' }] });
  await realm.member2.ok('PATCH', '/users/me/profile_data', { data: [{ id, value: 'e' }] });
  const queue = await realm.guest.queue({ event_types: ['realm_user', 'custom_profile_fields'] });
  await realm.owner.ok('PATCH', `/realm/profile_fields/${id}`, { field_data: { v: { text: 'Vi', order: '1' } } });
  await queue.next((event) => event.type === 'custom_profile_fields');
  expect((await realm.member.ok('GET', '/users/me')).profile_data).toEqual({ [id]: { value: 'v' } });
  expect((await realm.member2.ok('GET', '/users/me')).profile_data).toEqual({});
  await realm.owner.ok('DELETE', `/realm/profile_fields/${id}`);
  await queue.next((event) => event.fields?.length === 0);
  // However many users have a value, the list of the fields alone is announced.
  expect(queue.seen.map(({ type }) => type)).toEqual(['custom_profile_fields', 'custom_profile_fields']);
  expect((await realm.member.ok('GET', '/users/me')).profile_data).toEqual({});
  expect(await fields()).toEqual([]);
  expect(refused(await realm.owner.delete(`/realm/profile_fields/${id}`))).toEqual(badRequest);
});

test('a field of another realm cannot be changed or used', async () => {
  const id = await create({ name: 'a', field_type: 1 });
  const other = await openRealm();
  expect(refused(await other.owner.patch(`/realm/profile_fields/${id}`, { name: 'b' }))).toEqual(badRequest);
  expect(refused(await other.owner.delete(`/realm/profile_fields/${id}`))).toEqual(badRequest);
  expect(refused(await other.member.patch('/users/me/profile_data', { data: [{ id, value: 'x' }] }))).toEqual(
    badRequest,
  );
});

test('clients without pronouns_field_type_supported receive pronouns as a short text', async () => {
  const old = { pronouns_field_type_supported: false };
  const queue = await realm.guest.queue({ event_types: ['custom_profile_fields'], ...old });
  const id = await create({ name: 'Pronouns', field_type: 8 });
  const expected = [{ id, type: 1, name: 'Pronouns' }];
  expect((await queue.next(() => true)).fields).toMatchObject(expected);
  const fetch = { fetch_event_types: ['custom_profile_fields'] };
  expect((await realm.guest.ok('POST', '/register', { ...fetch, ...old })).custom_profile_fields).toMatchObject(
    expected,
  );
  const state = await realm.guest.ok('POST', '/register', fetch);
  expect(state.custom_profile_fields).toMatchObject([{ id, type: 8 }]);
});

test.each(['constructor', 'toString', '__proto__'])(
  'an external account of the type %s is rejected',
  async (subtype) => {
    const form = { name: 'Account', field_type: 7, field_data: { subtype } };
    expect((await realm.owner.post('/realm/profile_fields', form)).status).toBe(400);
  },
);
