import { exchange, type Json } from '@natter/testkit';
import pg from 'pg';
import { expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { mails, system } from './system.ts';

/** Ways to inject another host: by the Host header, and by headers of a trusted proxy. */
const forged = [
  { host: 'evil.example' },
  { host: 'evil.example:80' },
  { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.7' },
];

async function send(
  headers: Record<string, string>,
  method: string,
  path: string,
  form: Record<string, unknown> = {},
): Promise<{ status: number; body: Json; location: unknown }> {
  const fields = Object.entries(form).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const { status, body, ...answer } = await exchange(
    `${system.url}${path}`,
    method,
    String(new URLSearchParams(fields)),
    {
      authorization: authorizationOf(system.people.owner),
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
  );
  return { status, body, location: answer.headers.location };
}

test('a default realm answers under any host, and its links use the configured origin', async () => {
  for (const headers of forged) {
    const settings = await send(headers, 'GET', '/api/v1/server_settings');
    expect([settings.body.realm_url, settings.body.realm_uri]).toEqual([system.url, system.url]);
    expect(settings.body.realm_icon).toMatch(new RegExp(`^${system.url}/`));
    const state = (await send(headers, 'POST', '/api/v1/register', { fetch_event_types: ['realm', 'realm_user'] }))
      .body;
    for (const name of ['realm_url', 'realm_uri', 'realm_icon_url', 'realm_logo_url', 'server_emoji_data_url'])
      expect([name, new URL(state[name]).origin]).toEqual([name, system.url]);
    expect(JSON.stringify([settings.body, state])).not.toContain('evil');
    expect((await send(headers, 'GET', '/api/v1/realm/icon')).location).not.toContain('evil');
  }
});

test('the link of a password reset uses the host of the realm, regardless of the host of the request', async () => {
  for (const [index, headers] of forged.entries()) {
    const email = `forgetful${index}@natter.example`;
    const made = await send({}, 'POST', '/api/v1/users', {
      email,
      password: 'a rather good password',
      full_name: `Forgetful ${index}`,
    });
    expect(made.body.result).toBe('success');
    const asked = await send(headers, 'POST', '/accounts/password/reset', { email });
    expect(asked.status).toBe(200);
    const mail = await mails.next(email);
    expect(mail.link).toMatch(new RegExp(`^${system.url}/accounts/password/reset/`));
    expect(mail.text).not.toContain('evil');
  }
});

test('links of invitations use the host of the realm, regardless of the host of the request', async () => {
  for (const [index, headers] of forged.entries()) {
    const link = await send(headers, 'POST', '/api/v1/invites/multiuse', {});
    expect(link.body.invite_link).toMatch(new RegExp(`^${system.url}/join/`));
    const email = `asked-under-another-host${index}@natter.example`;
    await send(headers, 'POST', '/api/v1/invites', { invitee_emails: email, stream_ids: [] });
    expect((await mails.next(email)).link).toMatch(new RegExp(`^${system.url}/accounts/do_confirm/`));
    const listed = (await send(headers, 'GET', '/api/v1/invites')).body;
    expect(JSON.stringify(listed)).not.toContain('evil');
    const { id } = listed.invites.find((invite: Json) => invite.email === email);
    await send(headers, 'POST', `/api/v1/invites/${id}/resend`);
    expect((await mails.next(email)).link).toMatch(new RegExp(`^${system.url}/accounts/do_confirm/`));
  }
});

test('a link that verifies addresses mails an invitation, which is revoked together with the link', async () => {
  const owner = (method: string, path: string, form: Record<string, unknown> = {}) =>
    send({}, method, `/api/v1${path}`, form);
  const link = (await owner('POST', '/invites/multiuse', { invite_as: 300 })).body.invite_link as string;
  const key = link.split('/').at(-2);
  await owner('PATCH', '/realm', { invite_links_verify_email: true });
  const claim = (email: string) =>
    send({ authorization: '' }, 'POST', `/join/${key}`, {
      email,
      full_name: 'Not yet',
      password: 'a rather good password',
    });
  const account = { email: 'other@natter.example', full_name: 'Verified', password: 'a rather good password' };
  expect((await claim('verified@natter.example')).status).toBe(200);
  const first = await mails.next('verified@natter.example');
  // A newer mail invalidates the older one.
  expect((await claim('Verified@natter.example')).status).toBe(200);
  const second = await mails.next('Verified@natter.example');
  const open = (url: string) => send({ authorization: '' }, 'GET', new URL(url).pathname);
  expect((await open(first.link)).status).toBe(404);
  expect((await open(second.link)).body).toContain('Verified@natter.example');
  const submit = (url: string) =>
    send({ authorization: '' }, 'POST', `/join/${new URL(url).pathname.split('/').at(-1)}`, account);
  expect((await submit(second.link)).body).toContain('Verified@natter.example');
  const { members } = (await owner('GET', '/users')).body;
  const made = members.find((user: Json) => user.full_name === 'Verified');
  expect([made.delivery_email, made.role]).toEqual(['Verified@natter.example', 300]);
  expect((await submit(second.link)).status).toBe(404);
  // The answer does not reveal that an address has an account, and the mail has no invitation.
  expect((await claim('verified@natter.example')).status).toBe(200);
  const { link: ofKnown } = await mails.next('verified@natter.example');
  expect(ofKnown).toBe(`${system.url}/accounts/password/reset`);
  await claim('too-late@natter.example');
  const late = await mails.next('too-late@natter.example');
  const [{ id }] = (await owner('GET', '/invites')).body.invites.filter((invite: Json) => invite.link_url === link);
  expect((await owner('DELETE', `/invites/multiuse/${id}`)).status).toBe(200);
  expect((await submit(late.link)).status).toBe(400);
  expect((await owner('PATCH', '/realm', { invite_links_verify_email: false })).status).toBe(200);
});

test('a mailed invitation is stored as a hash, and sending it again invalidates the earlier link', async () => {
  const email = 'resent@natter.example';
  await send({}, 'POST', '/api/v1/invites', { invitee_emails: email, stream_ids: [] });
  const first = await mails.next(email);
  const { invites } = (await send({}, 'GET', '/api/v1/invites')).body;
  const { id } = invites.find((invite: Json) => invite.email === email);
  await send({}, 'POST', `/api/v1/invites/${id}/resend`);
  const second = await mails.next(email);
  const open = (path: string) => send({ authorization: '' }, 'GET', path);
  expect((await open(new URL(first.link).pathname)).status).toBe(404);
  expect((await open(new URL(second.link).pathname)).status).toBe(200);
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  const { rows } = await client.query('SELECT key FROM users.invitation WHERE email = $1', [email]);
  await client.end();
  expect(rows[0].key).not.toContain(second.link.split('/').at(-1));
  expect((await open(`/join/${encodeURIComponent(rows[0].key)}`)).status).toBe(404);
});

test('the link that confirms a new address uses the host of the realm, regardless of the host of the request', async () => {
  const email = 'another-owner@natter.example';
  await send({ host: 'evil.example' }, 'PATCH', '/api/v1/settings', {
    email,
    old_password: system.people.owner.password,
  });
  expect((await mails.next(email)).link).toMatch(new RegExp(`^${system.url}/accounts/confirm_new_email/`));
});

test('messages are rendered with the configured origin, also if they were scheduled under another host', async () => {
  const content = `${system.url}/#narrow/near/1 http://evil.example/#narrow/near/2`;
  const expected = '<a href="#narrow/near/1">';
  for (const headers of forged) {
    const rendered = await send(headers, 'POST', '/api/v1/messages/render', { content });
    expect(rendered.body.rendered).toContain(expected);
    expect(rendered.body.rendered).toContain('href="http://evil.example/#narrow/near/2"');
  }
  const schedule = async (seconds: number): Promise<number> => {
    const form = {
      type: 'direct',
      to: [system.people.member.user_id],
      content,
      scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + seconds,
    };
    return (await send({ host: 'evil.example' }, 'POST', '/api/v1/scheduled_messages', form)).status;
  };
  // On a busy machine, the first due time may be in the past when the request arrives.
  if ((await schedule(2)) !== 200) expect(await schedule(30)).toBe(200);
  const newest = async (): Promise<string> => {
    const narrow = [{ operator: 'dm', operand: [system.people.member.user_id] }];
    const query = new URLSearchParams({
      anchor: 'newest',
      num_before: '1',
      num_after: '0',
      narrow: JSON.stringify(narrow),
    });
    return (await send({}, 'GET', `/api/v1/messages?${query}`)).body.messages[0]?.content ?? '';
  };
  await expect.poll(newest).toContain(expected);
  expect(await newest()).toContain('href="http://evil.example/#narrow/near/2"');
});
