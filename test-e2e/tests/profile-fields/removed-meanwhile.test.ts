import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('a value for a concurrently removed field is stored before or rejected', async () => {
  const { owner, administrator, moderator, member, guest } = realm;
  const statuses: number[] = [];
  for (let round = 0; round < 15; round++) {
    const { id } = await owner.ok('POST', '/realm/profile_fields', { name: `field ${round}`, field_type: 1 });
    const writes = [owner, administrator, moderator, member, guest].flatMap((client) =>
      ['a', 'b', 'c'].map((value) => client.patiently('PATCH', '/users/me/profile_data', { data: [{ id, value }] })),
    );
    const removal = owner.patiently('DELETE', `/realm/profile_fields/${id}`);
    for (const { status } of await Promise.all(writes)) statuses.push(status);
    expect((await removal).status).toBe(200);
    const late = await member.patiently('PATCH', '/users/me/profile_data', { data: [{ id, value: 'late' }] });
    expect([late.status, late.body.msg]).toEqual([400, `Field id ${id} not found.`]);
  }
  expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
});

test('a value for a concurrently removed option is removed with it or rejected', async () => {
  const { owner, administrator, moderator, member, guest } = realm;
  const options = (...keys: string[]) =>
    Object.fromEntries(keys.map((key, index) => [key, { text: `option ${key}`, order: `${index + 1}` }]));
  const form = { name: 'editor', field_type: 3, field_data: options('kept', 'gone') };
  const { id } = await owner.ok('POST', '/realm/profile_fields', form);
  const clients = [owner, administrator, moderator, member, guest];
  const statuses: number[] = [];
  const left: string[] = [];
  for (let round = 0; round < 15; round++) {
    const writes = clients.flatMap((client) =>
      ['gone', 'kept', 'gone'].map((value) =>
        client.patiently('PATCH', '/users/me/profile_data', { data: [{ id, value }] }),
      ),
    );
    const ofOthers = owner.patiently('PATCH', `/users/${member.user_id}`, { profile_data: [{ id, value: 'gone' }] });
    const removal = owner.patiently('PATCH', `/realm/profile_fields/${id}`, { field_data: options('kept') });
    for (const { status } of await Promise.all([...writes, ofOthers])) statuses.push(status);
    expect((await removal).status).toBe(200);
    const { members } = await owner.ok('GET', '/users', { include_custom_profile_fields: true });
    for (const { profile_data } of members) if (profile_data?.[id]) left.push(profile_data[id].value);
    await owner.ok('PATCH', `/realm/profile_fields/${id}`, { field_data: options('kept', 'gone') });
  }
  expect(left.filter((value) => value !== 'kept')).toEqual([]);
  expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
});

test('requests for the values of one user change them one after another, in whatever order they name them', async () => {
  const { owner, member } = realm;
  const create = async (name: string): Promise<number> =>
    (await owner.ok('POST', '/realm/profile_fields', { name, field_type: 1 })).id;
  const ids = [await create('first of two'), await create('second of two')];
  const store = (order: number[], value: string) => () =>
    member.patch('/users/me/profile_data', { data: order.map((id) => ({ id, value })) });
  await store(ids, 'old')();
  const stored = 'users.profile_value WHERE user_id = $1 AND field_id = ANY ($2)';
  const values = [member.user_id, ids];
  const answers = await behindRows(
    { rows: 'users.account WHERE id = $1 FOR NO KEY UPDATE', values: [member.user_id] },
    [store(ids, 'one'), store(ids.toReversed(), 'two')],
    async (observer) =>
      expect((await observer.query(`SELECT FROM ${stored} FOR UPDATE NOWAIT`, values)).rowCount).toBe(2),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const { profile_data } = await member.ok('GET', '/users/me');
  expect(ids.map((id) => profile_data[id].value)).toEqual(['two', 'two']);
});
