import { createHmac } from 'node:crypto';
import { type Answer, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';

const secret = 'the secret of the first realm, long enough';
let [realm, other] = [] as unknown as [Realm, Realm];
beforeAll(async () => {
  [realm, other] = await Promise.all([openRealm(), openRealm()]);
  await realm.setJwtKey('HS256', secret);
});

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
function tokenOf(claims: object, key = secret, alg = 'HS256'): string {
  const text = `${encoded({ alg, typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${alg === 'none' ? '' : createHmac('sha256', key).update(text).digest('base64url')}`;
}
const exchange = (token: string, at = realm, more = {}): Promise<Answer> =>
  at.spectator.post('/jwt/fetch_api_key', { token, ...more });
const refused = ({ status, body }: Answer) => [status, body.code, body.msg];
const disabled = [400, 'BAD_REQUEST', 'JWT authentication is not enabled for this organization'];
const bad = [400, 'BAD_REQUEST', 'Bad JSON web token'];

test('a signed token is exchanged for an API key of its user', async () => {
  const { email, user_id } = realm.member;
  const { status, body } = await exchange(tokenOf({ email: email.toUpperCase() }));
  expect([status, body.email, body.user_id, body.user]).toEqual([200, email, user_id, undefined]);
  const header = { authorization: authorizationOf({ email, api_key: body.api_key }) };
  const me = await realm.spectator.get('/users/me', {}, header);
  expect([me.status, me.body.user_id]).toEqual([200, user_id]);
  expect((await realm.member.get('/users/me')).status).toBe(200);
  const profile = await exchange(tokenOf({ email }), realm, { include_profile: true });
  expect(profile.body.user).toMatchObject({ user_id, delivery_email: email, is_bot: false, role: 400 });
  // Posted again with its key, the same request gets the same answer.
  const again = { 'idempotency-key': 'once' };
  const [first, second] = [
    await realm.spectator.post('/jwt/fetch_api_key', { token: tokenOf({ email }) }, again),
    await realm.spectator.post('/jwt/fetch_api_key', { token: tokenOf({ email }) }, again),
  ];
  expect([first.status, second.body.api_key]).toEqual([200, first.body.api_key]);
});

test('a token with an invalid signature and an expired token are rejected', async () => {
  const { email } = realm.owner;
  const past = Math.floor(Date.now() / 1000) - 600;
  for (const token of [
    tokenOf({ email }, 'another secret that is as long as it'),
    tokenOf({ email }, secret, 'none'),
    tokenOf({ email }, secret, 'HS512'),
    tokenOf({ email, exp: past }),
    `${tokenOf({ email })}x`,
    'x'.repeat(8_000),
    '',
  ])
    expect([token, ...refused(await exchange(token))]).toEqual([token, ...bad]);
  expect((await exchange('x'.repeat(8_001))).body.code).toMatch(/BAD_REQUEST|REQUEST_VARIABLE_INVALID/);
  expect(refused(await realm.spectator.post('/jwt/fetch_api_key'))[1]).toBe('REQUEST_VARIABLE_MISSING');
  expect(refused(await exchange(tokenOf({ user: email })))[2]).toBe('No email specified in JSON web token claims');
});

test('a token cannot log in a user of another realm, a bot, or a user by a placeholder address', async () => {
  const { bots } = await realm.member
    .ok('POST', '/bots', { full_name: 'Token Bot', short_name: 'token' })
    .then(() => realm.member.ok('GET', '/bots'));
  const wrong = [401, 'AUTHENTICATION_FAILED'];
  for (const email of [
    other.member.email,
    bots[0].username,
    `user${realm.member.user_id}@${realm.host}`,
    'nobody@example.com',
    ` ${realm.member.email}`,
  ])
    expect([email, ...refused(await exchange(tokenOf({ email }))).slice(0, 2)]).toEqual([email, ...wrong]);
  expect(refused(await exchange(tokenOf({ email: other.member.email }), other))).toEqual(disabled);
  await other.setJwtKey('HS256', 'the secret of the other realm, long enough');
  expect(refused(await exchange(tokenOf({ email: other.member.email }), other))).toEqual(bad);
});

test('deactivated users are rejected, and all users once the key is removed', async () => {
  const person = await realm.person();
  await realm.owner.ok('DELETE', `/users/${person.user_id}`);
  const { status, body } = await exchange(tokenOf({ email: person.email }));
  expect([status, body.code]).toEqual([401, 'USER_DEACTIVATED']);
  const third = await openRealm();
  const token = tokenOf({ email: third.member.email });
  expect(refused(await exchange(token, third))).toEqual(disabled);
  await third.setJwtKey('HS256', secret);
  expect((await exchange(token, third)).status).toBe(200);
  await expect(third.setJwtKey('HS256', 'short')).rejects.toThrow(/at least 32 bytes/);
  await expect(third.setJwtKey('RS256', secret)).rejects.toThrow(/RSA key/);
  expect((await exchange(token, third)).status).toBe(200);
  await third.setJwtKey();
  expect(refused(await exchange(token, third))).toEqual(disabled);
});
