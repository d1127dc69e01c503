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
  '%s takes a token and an app ID (4.13)',
  async (path) => {
    await realm.member.ok('POST', path, { token, appid: 'org.natter.App-1' });
    await realm.member.ok('POST', path, { token, appid: 'org.natter.App-1' });
    await realm.member.ok('DELETE', path, { token });
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

test.each(['/users/me/android_gcm_reg_id', '/users/me/android_device_token'])('%s takes a token', async (path) => {
  await realm.guest.ok('POST', path, { token: 'any:characters_are-fine' });
  await realm.guest.ok('DELETE', path, { token: 'any:characters_are-fine' });
  expect(refused(await realm.guest.post(path, { token: '' }))).toEqual(badRequest);
  expect(refused(await realm.guest.post(path, { token: 'x'.repeat(4097) }))).toEqual(badRequest);
  expect(refused(await realm.guest.delete(path, { token: 'never' }))).toEqual(badRequest);
});

test('an encrypted registration is kept, pending, told to oneself, in the register', async () => {
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

test('a test for a device that nobody registered is INVALID_PUSH_DEVICE_TOKEN', async () => {
  expect(refused(await realm.owner.post('/mobile_push/test_notification', { token: 'x' }))).toEqual([
    400,
    'INVALID_PUSH_DEVICE_TOKEN',
  ]);
});
