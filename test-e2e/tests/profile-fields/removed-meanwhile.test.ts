import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('a value for a field that is removed meanwhile is stored before, or refused', async () => {
  const { owner, administrator, moderator, member, guest } = realm;
  const statuses: number[] = [];
  for (let round = 0; round < 15; round++) {
    const { id } = await owner.ok('POST', '/realm/profile_fields', { name: `field ${round}`, field_type: 1 });
    const writes = [owner, administrator, moderator, member, guest].flatMap((client) =>
      ['a', 'b', 'c'].map((value) => client.patch('/users/me/profile_data', { data: [{ id, value }] })),
    );
    const removal = owner.delete(`/realm/profile_fields/${id}`);
    for (const { status } of await Promise.all(writes)) statuses.push(status);
    expect((await removal).status).toBe(200);
    const late = await member.patch('/users/me/profile_data', { data: [{ id, value: 'late' }] });
    expect([late.status, late.body.msg]).toEqual([400, `Field id ${id} not found.`]);
  }
  expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
});
