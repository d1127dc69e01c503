import { randomBytes, randomInt } from 'node:crypto';
import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];
const token = Buffer.from('a device token').toString('base64');

test.each(['/users/me/apns_device_token', '/users/me/ios_device_token'])(
  '%s accepts a token and an app ID (4.13)',
  async (path) => {
    await realm.member.ok('POST', path, { token, appid: 'org.natter.App-1' });
    await realm.member.ok('POST', path, { token, appid: 'org.natter.App-1' });
    await realm.member.ok('DELETE', path, { token });
    await realm.member.ok('POST', path, { token: 'apple-tokenaz', appid: 'org.natter.App-1' });
    expect(refused(await realm.member.delete(path, { token }))).toEqual(badRequest);
    for (const form of [
      { token: '', appid: 'a' },
      { token: 'x'.repeat(4100), appid: 'a' },
      { token: 'not base64!', appid: 'a' },
      { token, appid: 'has spaces' },
      { token, appid: '' },
    ])
      expect(refused(await realm.member.post(path, form)), JSON.stringify(form)).toEqual(badRequest);
    expect(refused(await realm.member.post(path, { token }))).toEqual([400, 'REQUEST_VARIABLE_MISSING']);
  },
);

test.each(['/users/me/android_gcm_reg_id', '/users/me/android_device_token'])('%s accepts a token', async (path) => {
  await realm.guest.ok('POST', path, { token: 'any:characters_are-fine' });
  await realm.guest.ok('DELETE', path, { token: 'any:characters_are-fine' });
  expect(refused(await realm.guest.post(path, { token: '' }))).toEqual(badRequest);
  expect(refused(await realm.guest.post(path, { token: 'x'.repeat(4097) }))).toEqual(badRequest);
  expect(refused(await realm.guest.delete(path, { token: 'never' }))).toEqual(badRequest);
});

test('an encrypted registration is stored as pending, returned by the register and sent to its user', async () => {
  const form = {
    token_kind: 'fcm',
    push_account_id: 7,
    push_public_key: token,
    bouncer_public_key: token,
    encrypted_push_registration: token,
  };
  const queue = await realm.member.queue({ event_types: ['push_device'] });
  await realm.member.ok('POST', '/mobile_push/register', form);
  expect(await queue.next(() => true)).toMatchObject({ type: 'push_device', push_account_id: 7, status: 'pending' });
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['push_device'] });
  expect(state.push_devices).toEqual({ 7: { status: 'pending' } });
  for (const wrong of [{ token_kind: 'pigeon' }, { push_public_key: '' }, { push_account_id: 'x' }])
    expect(refused(await realm.member.post('/mobile_push/register', { ...form, ...wrong }))).toEqual(badRequest);
});

test('a test notification to an unregistered device returns INVALID_PUSH_DEVICE_TOKEN', async () => {
  expect(refused(await realm.owner.post('/mobile_push/test_notification', { token: 'x' }))).toEqual([
    400,
    'INVALID_PUSH_DEVICE_TOKEN',
  ]);
});

test('a client device is added, given a key and a token, and removed, each with an event and in the register', async () => {
  const state = async () => (await realm.member2.ok('POST', '/register', { fetch_event_types: ['device'] })).devices;
  const queue = await realm.member2.queue({ event_types: ['device'] });
  const { device_id } = await realm.member2.ok('POST', '/register_client_device');
  expect(await state()).toEqual({ [device_id]: {} });
  const key = { push_key_id: 12, push_key: token };
  await realm.member2.ok('POST', '/mobile_push/register', { device_id, ...key });
  const sealed = {
    token_kind: 'apns',
    token_id: 'dG9rZW4=',
    bouncer_public_key: token,
    encrypted_push_registration: token,
  };
  await realm.member2.ok('POST', '/mobile_push/register', { device_id, ...sealed });
  expect(await state()).toEqual({ [device_id]: { push_key_id: 12, pending_push_token_id: 'dG9rZW4=' } });
  for (const form of [{ device_id }, { device_id, push_key_id: 1 }, { device_id: 999_999, ...key }])
    expect(refused(await realm.member2.post('/mobile_push/register', form))).toEqual(badRequest);
  await realm.member2.ok('POST', '/remove_client_device', { device_id });
  await queue.next(({ op }) => op === 'remove');
  expect(queue.seen.map(({ id, ...event }) => event)).toEqual([
    { type: 'device', op: 'add', device_id },
    { type: 'device', op: 'update', device_id, push_key_id: 12 },
    { type: 'device', op: 'update', device_id, pending_push_token_id: 'dG9rZW4=' },
    { type: 'device', op: 'remove', device_id },
  ]);
  expect(await state()).toEqual({});
  expect(refused(await realm.member2.post('/remove_client_device', { device_id }))).toEqual(badRequest);
});

test('a token and a storage key that are too long for an index are rejected', async () => {
  // Random, because Postgres compresses repetitive values.
  const long = randomBytes(3_100).toString('base64').slice(0, 4_096);
  const tooLong = [400, 'A value is too long'];
  const asToken = await realm.member.post('/users/me/android_gcm_reg_id', { token: long });
  expect([asToken.status, asToken.body.msg]).toEqual(tooLong);
  const key = Array.from({ length: 1_000 }, () => String.fromCodePoint(0x10000 + randomInt(0xe0000))).join('');
  const asKey = await realm.member.put('/bot_storage', { storage: { [key]: 'x' } });
  expect([asKey.status, asKey.body.msg]).toEqual(tooLong);
});
