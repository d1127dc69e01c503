import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test.each(['/health', '/compatibility'])('%s responds without authentication', async (path) => {
  const answer = await fetch(`${realm.member.url}${path}`);
  expect([answer.status, await answer.json()]).toEqual([200, { result: 'success', msg: '' }]);
});

test.each(['/health', '/compatibility', '/openapi.json', '/asyncapi.json'])(
  'HEAD %s responds like GET',
  async (path) => {
    const address = `${realm.member.url}${path}`;
    const [head, get] = [await fetch(address, { method: 'HEAD' }), await fetch(address)];
    const described = ({ status, headers }: Response) => [status, headers.get('content-type')];
    expect(described(head)).toEqual(described(get));
    expect([head.status, await head.text()]).toEqual([200, '']);
  },
);

test('the server emoji is served as an image', async () => {
  const rendered = (await realm.member.ok('POST', '/messages/render', { content: ':zulip:' })).rendered;
  const path = /src="([^"]+)"/.exec(rendered)?.[1] ?? '';
  const answer = await fetch(`${realm.member.url}${path}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([64, 64]);
});

test('a navigation view can be changed and removed with unencoded slashes in its fragment', async () => {
  const { member } = realm;
  const fragment = 'narrow/is/starred';
  await member.ok('POST', '/navigation_views', { fragment, is_pinned: true });
  await member.ok('PATCH', `/navigation_views/${fragment}`, { is_pinned: false });
  expect((await member.ok('GET', '/navigation_views')).navigation_views).toEqual([{ fragment, is_pinned: false }]);
  await member.ok('DELETE', `/navigation_views/${fragment}`);
  expect((await member.ok('GET', '/navigation_views')).navigation_views).toEqual([]);
});

test('a device token is accepted in hexadecimal digits', async () => {
  const token = 'a1'.repeat(33);
  await realm.member.ok('POST', '/users/me/apns_device_token', { token, appid: 'org.example.app' });
  await realm.member.ok('DELETE', '/users/me/apns_device_token', { token });
});
