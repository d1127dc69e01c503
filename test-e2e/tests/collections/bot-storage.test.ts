import { Client, connected, countOf, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('a bot can write, read and delete texts under its own keys, one by one or all at once', async () => {
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

test('a missing key and values that are not text are rejected', async () => {
  const { member } = realm;
  const missing = await member.get('/bot_storage', { keys: ['nothing'] });
  expect([missing.status, missing.body.code, missing.body.msg]).toEqual([400, 'BAD_REQUEST', 'Key does not exist.']);
  expect((await member.send('DELETE', '/bot_storage', { keys: ['nothing'] })).status).toBe(400);
  expect((await member.send('PUT', '/bot_storage', { storage: { a: 1 } })).status).toBe(400);
  expect((await member.send('PUT', '/bot_storage', {})).body.code).toBe('REQUEST_VARIABLE_MISSING');
});

const sizeOf = async (userId: number) => {
  const { rows } = await connected((client) =>
    client.query(`SELECT entries, bytes::int AS bytes FROM users.bot_storage_size WHERE user_id = ${userId}`),
  );
  return rows[0];
};

test('the counters of entries and bytes follow added, changed and removed entries', async () => {
  const person = await realm.person();
  await person.ok('PUT', '/bot_storage', { storage: { a: 'xy', é: '€' } });
  expect(await sizeOf(person.user_id)).toEqual({ entries: 2, bytes: 8 });
  await person.ok('PUT', '/bot_storage', { storage: { a: 'xyz', b: '' } });
  expect(await sizeOf(person.user_id)).toEqual({ entries: 3, bytes: 10 });
  await person.ok('DELETE', '/bot_storage', { keys: ['a'] });
  expect(await sizeOf(person.user_id)).toEqual({ entries: 2, bytes: 6 });
  expect((await person.send('DELETE', '/bot_storage', { keys: ['b', 'c'] })).status).toBe(400);
  expect(await sizeOf(person.user_id)).toEqual({ entries: 2, bytes: 6 });
  await person.ok('DELETE', '/bot_storage');
  expect(await sizeOf(person.user_id)).toEqual({ entries: 0, bytes: 0 });
});

test('an account can store at most 10,000 entries, even if they are short', async () => {
  const person = await realm.person();
  const storage = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${index}`, '']));
  await person.ok('PUT', '/bot_storage', { storage });
  const more = await person.put('/bot_storage', { storage: { more: '' } });
  expect([more.status, more.body.msg]).toEqual([400, 'Too many entries in the storage of this bot (limit: 10000)']);
  await person.ok('PUT', '/bot_storage', { storage: { 1: 'changed' } });
});

test('a user and the bots that they created share a limit, even after a bot is given to another user', async () => {
  const person = await realm.person();
  const [full_name, short_name] = ['Keeper', `keeper${person.user_id}`];
  const { user_id, api_key } = await person.ok('POST', '/bots', { full_name, short_name });
  const bot = new Client(person, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
  await bot.ok('PUT', '/bot_storage', { storage: { key: 'value' } });
  await person.ok('PUT', '/bot_storage', { storage: { key: 'value' } });
  await connected((client) =>
    client.query(`UPDATE users.bot_storage_size SET bytes = 99999999 + 100 WHERE user_id = ${user_id}`),
  );
  const full = 'Too much text in the storage of all bots of one user (limit: 100000000 bytes)';
  expect((await person.put('/bot_storage', { storage: { other: 'value' } })).body.msg).toBe(full);
  // The bot still counts for its creator.
  await realm.administrator.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: realm.member2.user_id });
  expect((await person.put('/bot_storage', { storage: { other: 'value' } })).body.msg).toBe(full);
  await realm.member2.ok('PUT', '/bot_storage', { storage: { other: 'value' } });
  // A storage that is above its limit may shrink.
  await person.ok('PUT', '/bot_storage', { storage: { key: 'short' } });
  expect((await person.put('/bot_storage', { storage: { key: 'longer value' } })).body.msg).toBe(full);
  await realm.administrator.ok('DELETE', `/bots/${user_id}`);
  expect(await countOf('users.bot_storage', `user_id = ${user_id}`)).toBe(1);
});
