import { operations } from '@natter/contracts';
import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

const [unused, great] = ['2147483646', '9999999999'];

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const withIds = operations.flatMap((operation) => {
  const { http } = operation;
  const names = [...(http?.path ?? '').matchAll(/\{(\w+_id)\}/g)].map(([, name = '']) => name);
  return http && names.length > 0 ? [{ name: operation.name, method: http.method, path: http.path, names }] : [];
});

test('an object whose ID is greater than all of the database is missing like any other', async () => {
  expect(withIds.length).toBeGreaterThan(30);
  const answerOf = async ({ method, path, names }: (typeof withIds)[number], id: string) => {
    const address = names.reduce((url, name) => url.replace(`{${name}}`, id), path);
    const { status, body } = await realm.owner.send(method, address, {});
    return [status, body.code, String(body.msg).replaceAll(id, 'ID').replaceAll('2147483647', 'ID')];
  };
  for (const operation of withIds)
    expect([operation.name, ...(await answerOf(operation, great))]).toEqual([
      operation.name,
      ...(await answerOf(operation, unused)),
    ]);
});

test('a channel whose ID is greater than all of the database does not exist', async () => {
  const form = { type: 'channel', to: Number(great), topic: 'any', content: 'text' };
  const later = { ...form, scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 1_000 };
  for (const [path, params] of [
    ['/messages', form],
    ['/scheduled_messages', later],
  ] as const) {
    const { status, body } = await realm.owner.post(path, params);
    expect([status, body.code, body.stream_id]).toEqual([400, 'STREAM_DOES_NOT_EXIST', Number(great)]);
  }
});
