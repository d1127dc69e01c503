import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
const ids: number[] = [];
const times: number[] = [];
beforeAll(async () => {
  realm = await openRealm();
  for (let n = 0; n < 4; n++) {
    const to = [n === 1 ? realm.member2.user_id : realm.member.user_id];
    const { id } = await realm.owner.ok('POST', '/messages', { type: 'direct', to, content: `message ${n}` });
    ids.push(id);
    times.push(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
});

const at = (anchor_date: string, form: Json = {}): Promise<Json> =>
  realm.owner.ok('GET', '/messages', { anchor: 'date', anchor_date, num_before: 1, num_after: 1, ...form });
const shown = (page: Json): Json => [page.anchor, page.found_anchor, page.messages.map(({ id }: Json) => id)];
const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

test('the anchor of a date is the first message sent at or after that date', async () => {
  const after = iso((times[1] ?? 0) + 20);
  expect(shown(await at(after))).toEqual([ids[2], true, [ids[1], ids[2], ids[3]]]);
  expect(shown(await at(after.replace('Z', '+00:00')))).toEqual([ids[2], true, [ids[1], ids[2], ids[3]]]);
  const narrow = [['dm', [realm.member2.user_id]]];
  expect(shown(await at('2000-01-01', { narrow }))).toEqual([ids[1], true, [ids[1]]]);
});

test('the anchor of a date within a narrow is the first matching message', async () => {
  const narrow = [['dm', [realm.member.user_id]]];
  expect(shown(await at(iso((times[0] ?? 0) + 20), { narrow }))).toEqual([ids[2], true, [ids[0], ids[2], ids[3]]]);
});

test('a date after the last message returns the end of the history', async () => {
  const page = await at(iso(Date.now() + 86_400_000));
  expect([page.found_newest, page.found_anchor, page.messages.map(({ id }: Json) => id)]).toEqual([
    true,
    false,
    [ids[3]],
  ]);
});

test('a missing or invalid date is rejected', async () => {
  for (const anchor_date of ['yesterday', '2024-13-45', '7', ''])
    expect(
      (await realm.owner.get('/messages', { anchor: 'date', anchor_date, num_before: 1, num_after: 1 })).status,
    ).toBe(400);
  const { status, body } = await realm.owner.get('/messages', { anchor: 'date', num_before: 1, num_after: 1 });
  expect([status, body.code]).toEqual([400, 'REQUEST_VARIABLE_MISSING']);
});
