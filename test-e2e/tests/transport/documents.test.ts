import { openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('the description of the API is served as data and as a page', async () => {
  const { spectator } = await openRealm();
  const document = await spectator.get('//openapi.json');
  expect(document.body.openapi).toBe('3.1.0');
  expect(Object.keys(document.body.paths)).toEqual(expect.arrayContaining(['/messages', '/register', '/events']));
  const events = await spectator.get('//asyncapi.json');
  expect(events.body.asyncapi).toBe('3.1.0');
  expect(Object.keys(events.body.components.messages)).toEqual(
    expect.arrayContaining(['message', 'heartbeat', 'subscription.peer_add', 'realm_user.update', 'presence']),
  );
  const page = await spectator.get('//docs');
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  expect(page.body).toContain('<a href="/docs/messages">Messages</a>');
  const messages = await spectator.get('//docs/messages');
  expect(messages.body).toContain('<b>POST</b> <code>/api/v1/messages</code>');
  for (const { headers } of [page, messages])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  for (const path of ['//docs/index', '//docs/no-such-page', '//docs/..%2fservice.ts'])
    expect([path, (await spectator.get(path)).status]).toEqual([path, 404]);
});
