import { expect, test } from 'vitest';
import { namedRow } from './named-row.ts';

const failed = (properties: object): Error => Object.assign(new Error('failed'), properties);
const taken = { code: '23505', constraint: 'idempotency_pkey' };

test.each([
  'Key (realm_id, user_id, key)=(1, 7, …) already exists.',
  'Schlüssel »(realm_id, user_id, key)=(1, 7, …)« existiert bereits.',
])('the row of a used key is read from: %s', (detail) => {
  for (const key of ['key:a', 'key:=(2, 8, b), (c)\n'])
    expect(namedRow(failed({ ...taken, detail: detail.replace('…', key) }))).toEqual({ realm_id: 1, user_id: 7, key });
});

test('a changed row is read from the detail of its error; other errors name no row', () => {
  const row = { realm_id: 1, user_id: 7, before: null };
  expect(namedRow(failed({ code: 'NT409', detail: JSON.stringify(row) }))).toEqual(row);
  expect(namedRow(failed({ code: 'NT409' }))).toBeUndefined();
  expect(namedRow(failed(taken))).toBeUndefined();
  expect(
    namedRow(failed({ ...taken, constraint: 'other', detail: 'Key (a, b, c)=(1, 7, d) exists.' })),
  ).toBeUndefined();
  expect(namedRow('no error')).toBeUndefined();
});
