import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('a bot keeps texts under keys of its own: written, read, and forgotten, by key or all', async () => {
  const { member, member2 } = realm;
  await member.ok('PUT', '/bot_storage', { storage: { colour: 'red', size: '3' } });
  await member.ok('PUT', '/bot_storage', { storage: { size: '4' } });
  expect((await member.ok('GET', '/bot_storage')).storage).toEqual({ colour: 'red', size: '4' });
  expect((await member.ok('GET', '/bot_storage', { keys: ['size'] })).storage).toEqual({ size: '4' });
  expect((await member2.ok('GET', '/bot_storage')).storage).toEqual({});
  await member.ok('DELETE', '/bot_storage', { keys: ['size'] });
  expect((await member.ok('GET', '/bot_storage')).storage).toEqual({ colour: 'red' });
  await member.ok('DELETE', '/bot_storage');
  expect((await member.ok('GET', '/bot_storage')).storage).toEqual({});
});

test('a key that is not there, and values that are no text, are refused', async () => {
  const { member } = realm;
  const missing = await member.get('/bot_storage', { keys: ['nothing'] });
  expect([missing.status, missing.body.code, missing.body.msg]).toEqual([400, 'BAD_REQUEST', 'Key does not exist.']);
  expect((await member.send('DELETE', '/bot_storage', { keys: ['nothing'] })).status).toBe(400);
  expect((await member.send('PUT', '/bot_storage', { storage: { a: 1 } })).status).toBe(400);
  expect((await member.send('PUT', '/bot_storage', {})).body.code).toBe('REQUEST_VARIABLE_MISSING');
});
