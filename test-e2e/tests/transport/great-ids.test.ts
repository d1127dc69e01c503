import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

const [unused, great] = ['2147483646', '9999999999'];

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('an ID beyond the range of the database returns the same error as a missing object', async () => {
  const { paths } = (await realm.spectator.get('//openapi.json')).body;
  const withIds = Object.entries<Json>(paths).flatMap(([path, item]) =>
    /\{\w+_id\}/.test(path) && !item.servers ? Object.keys(item).map((method) => ({ method, path })) : [],
  );
  expect(withIds.length).toBeGreaterThan(30);
  const answerOf = async ({ method, path }: (typeof withIds)[number], id: string) => {
    const { status, body } = await realm.owner.patiently(method.toUpperCase(), path.replaceAll(/\{\w+_id\}/g, id));
    return [method, path, status, body.code, String(body.msg).replaceAll(id, 'ID').replaceAll('2147483647', 'ID')];
  };
  for (const operation of withIds) expect(await answerOf(operation, great)).toEqual(await answerOf(operation, unused));
});

test('a channel ID beyond the range of the database returns STREAM_DOES_NOT_EXIST', async () => {
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
