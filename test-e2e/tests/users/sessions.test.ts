import { createHash } from 'node:crypto';
import { type Answer, type Client, connected, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { Browser } from '../browser.ts';
import { uploadTo } from '../upload.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
});

const refused = ({ status, body }: Answer) => [status, body.code];
const loggedOut = [401, 'UNAUTHORIZED'];
const foreign = [403, 'CSRF_FAILED'];

async function loggedIn(who: Client, at = realm): Promise<Browser> {
  const browser = new Browser(at.spectator);
  const { status } = await browser.login(who.email, who.password);
  expect(status).toBe(303);
  return browser;
}

test('a login with email and password starts a session that scripts cannot read', async () => {
  const browser = new Browser(realm.spectator);
  const page = await browser.send('GET', '/accounts/login?next=/x');
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('name="password"')]);
  expect([page.headers['referrer-policy'], browser.session, browser.token]).toEqual([
    'same-origin',
    '',
    expect.stringMatching(/^[\w-]{43}$/),
  ]);
  const answer = await browser.login(realm.member.email, realm.member.password, { next: '/inbox?x=1' });
  expect([answer.status, answer.headers.location]).toEqual([303, '/inbox?x=1']);
  const cookies = [answer.headers['set-cookie'] ?? []].flat();
  const session = cookies.find((one) => one.startsWith('sessionid=')) ?? '';
  expect(session).toMatch(/^sessionid=[\w-]{43}; Path=\/; Max-Age=\d+; SameSite=Lax; HttpOnly$/);
  const token = cookies.find((one) => one.startsWith('csrftoken=')) ?? '';
  expect(token).toMatch(/^csrftoken=[\w-]{43}; Path=\/; Max-Age=\d+; SameSite=Lax$/);
  const me = await browser.json('GET', '/users/me');
  expect([me.status, me.body.user_id]).toEqual([200, realm.member.user_id]);
});

test('operations of the API work with a session as the same user', async () => {
  const browser = await loggedIn(realm.member);
  const sent = await browser.json('POST', '/messages', {
    type: 'direct',
    to: [realm.guest.user_id],
    content: 'from a browser',
  });
  expect(sent.status).toBe(200);
  const { message } = await realm.guest.ok('GET', `/messages/${sent.body.id}`, { apply_markdown: false });
  expect(message).toMatchObject({ sender_id: realm.member.user_id, content: 'from a browser', client: 'Unspecified' });
  const changed = await browser.json('PATCH', '/settings', { full_name: 'Member of Browsers' });
  expect([changed.status, (await realm.member.ok('GET', '/users/me')).full_name]).toEqual([200, 'Member of Browsers']);
  expect(refused(await browser.json('DELETE', '/realm'))).toEqual([405, undefined]);
  expect(refused(await browser.json('PATCH', '/realm', { name: 'Mine' }))).toEqual([400, 'BAD_REQUEST']);
  expect(refused(await browser.json('GET', '/nothing'))).toEqual([404, 'NOT_FOUND']);
});

test('a message from a browser has the client website', async () => {
  const browser = await loggedIn(realm.member);
  const form = { type: 'direct', to: [realm.guest.user_id], content: 'hello' };
  const headers = { 'x-csrftoken': browser.token, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
  const { body } = await browser.send('POST', '/json/messages', form, headers);
  const { message } = await realm.member.ok('GET', `/messages/${body.id}`);
  expect([message.client, message.flags]).toEqual(['website', ['read']]);
});

test('the API ignores sessions, and /json ignores keys', async () => {
  const browser = await loggedIn(realm.member);
  expect(refused(await browser.send('GET', '/api/v1/users/me'))).toEqual(loggedOut);
  const key = { authorization: authorizationOf(realm.member) };
  const answer = await new Browser(realm.spectator).send('GET', '/json/users/me', {}, key);
  expect([...refused(answer), answer.headers['www-authenticate']]).toEqual([...loggedOut, 'Session realm="zulip"']);
  for (const email of ['', `${realm.member.email}`]) {
    const shown = Buffer.from(`${email}:${browser.session}`).toString('base64');
    const tried = await realm.spectator.get('/users/me', {}, { authorization: `Basic ${shown}` });
    expect(tried.status).toBe(401);
  }
  browser.cookies.set('sessionid', realm.member.api_key);
  expect(refused(await browser.json('GET', '/users/me'))).toEqual(loggedOut);
});

test('a page of another site cannot change data with the cookies of its visitor', async () => {
  const browser = await loggedIn(realm.member);
  const form = { full_name: 'Taken Over' };
  const stranger = await loggedIn(realm.guest);
  const attempts: Record<string, string>[] = [
    {},
    { 'x-csrftoken': '' },
    { 'x-csrftoken': 'x'.repeat(43) },
    { 'x-csrftoken': stranger.token },
    { origin: browser.origin },
    { 'sec-fetch-site': 'same-origin' },
    { 'x-csrftoken': browser.token, origin: 'https://evil.example' },
    { 'x-csrftoken': browser.token, origin: 'null' },
    { 'x-csrftoken': browser.token, origin: browser.origin.replace('http:', 'https:') },
    { 'x-csrftoken': browser.token, origin: `${browser.origin}.evil.example` },
    { 'x-csrftoken': browser.token, origin: `${browser.origin}:444` },
    { 'x-csrftoken': browser.token, 'sec-fetch-site': 'cross-site' },
    { 'x-csrftoken': browser.token, 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of attempts) {
    const answer = await browser.send('PATCH', '/json/settings', form, headers);
    expect([headers, ...refused(answer)]).toEqual([headers, ...foreign]);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  }
  for (const method of ['PATCH', 'GET', 'patch']) {
    const answer = await browser.send('POST', '/json/settings', { ...form, method });
    expect([method, answer.status === 403 || answer.status === 405]).toEqual([method, true]);
  }
  // A field in the address is not the body that only a page of this origin can fill.
  expect(refused(await browser.send('PATCH', `/json/settings?csrfmiddlewaretoken=${browser.token}`, form))).toEqual(
    foreign,
  );
  const read = await browser.send('GET', '/json/users/me', {}, { 'sec-fetch-site': 'cross-site' });
  expect(refused(read)).toEqual(foreign);
  expect((await realm.member.ok('GET', '/users/me')).full_name).not.toBe('Taken Over');
  const field = await browser.send('PATCH', '/json/settings', { ...form, csrfmiddlewaretoken: browser.token });
  expect([field.status, field.body.ignored_parameters_unsupported]).toEqual([200, undefined]);
});

test('a page of another site cannot read responses under /json', async () => {
  const browser = await loggedIn(realm.member);
  for (const [method, path] of [
    ['GET', '/json/server_settings'],
    ['OPTIONS', '/json/server_settings'],
    ['OPTIONS', '/json/messages'],
    ['GET', '/json/users/me'],
  ] as const) {
    const { headers } = await browser.send(method, path);
    expect([headers['access-control-allow-origin'], headers['access-control-allow-credentials']]).toEqual([
      undefined,
      undefined,
    ]);
  }
  const open = await realm.spectator.get('/server_settings');
  expect(open.headers['access-control-allow-origin']).toBe('*');
});

test('another site cannot log a user in or out', async () => {
  const { email, password } = realm.member;
  const browser = new Browser(realm.spectator);
  const elsewhere: Record<string, string>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
  ];
  for (const headers of elsewhere) {
    const answer = await browser.send('POST', '/accounts/login', { username: email, password }, headers);
    expect([...refused(answer), browser.session]).toEqual([...foreign, '']);
  }
  // Programs that name no origin repeat the token of the form.
  await browser.send('GET', '/accounts/login');
  const form = { username: email, password, csrfmiddlewaretoken: browser.token };
  const wrong = await browser.send('POST', '/accounts/login', { ...form, csrfmiddlewaretoken: 'x'.repeat(43) });
  expect(refused(wrong)).toEqual(foreign);
  expect((await browser.send('POST', '/accounts/login', form)).status).toBe(303);
  for (const headers of [{}, { origin: 'https://evil.example' }] as Record<string, string>[])
    expect(refused(await browser.send('POST', '/accounts/logout', {}, headers))).toEqual(foreign);
  expect((await browser.json('GET', '/users/me')).status).toBe(200);
});

test('a login does not adopt a session or a token that another user set in the browser', async () => {
  const browser = new Browser(realm.spectator);
  const attacker = await loggedIn(realm.guest);
  browser.cookies.set('sessionid', attacker.session).set('csrftoken', attacker.token);
  await browser.login(realm.member.email, realm.member.password);
  expect(browser.session).not.toBe(attacker.session);
  expect(browser.token).not.toBe(attacker.token);
  expect((await browser.json('GET', '/users/me')).body.user_id).toBe(realm.member.user_id);
  expect((await attacker.json('GET', '/users/me')).body.user_id).toBe(realm.guest.user_id);
  // A token is valid only with its own session, even if the cookie contains the same token.
  const crossed = {
    'x-csrftoken': attacker.token,
    cookie: `sessionid=${browser.session}; csrftoken=${attacker.token}`,
  };
  expect(refused(await realm.spectator.send('PATCH', '//json/settings', {}, crossed))).toEqual(foreign);
  // Two session cookies are refused, because a sibling host may have set either of them.
  const twice = { cookie: `sessionid=${attacker.session}; sessionid=${browser.session}` };
  expect(refused(await realm.spectator.send('GET', '//json/users/me', {}, twice))).toEqual(loggedOut);
  const plain = { cookie: `__Host-sessionid=${browser.session}` };
  expect(refused(await realm.spectator.send('GET', '//json/users/me', {}, plain))).toEqual(loggedOut);
});

test('a session of one realm is rejected in another', async () => {
  const other = await openRealm({ havePasswords: true });
  const browser = await loggedIn(realm.owner);
  const there = new Browser(other.spectator);
  there.cookies.set('sessionid', browser.session).set('csrftoken', browser.token);
  expect(refused(await there.json('GET', '/users/me'))).toEqual(loggedOut);
  expect(refused(await there.json('PATCH', '/realm', { name: 'Taken' }))).toEqual(loggedOut);
  expect((await there.login(realm.owner.email, realm.owner.password)).status).toBe(401);
});

test('wrong passwords return the login page and share the rate limit of key logins', async () => {
  const person = await realm.person();
  const browser = new Browser(realm.spectator);
  const hostile = { next: '"><script>alert(1)</script>' };
  const wrong = await browser.login(`${person.email}`, 'not the password', hostile);
  expect([wrong.status, wrong.body]).toEqual([401, expect.stringContaining('incorrect')]);
  expect([browser.session, wrong.body.includes('<script')]).toEqual(['', false]);
  const unknown = await browser.login('"><script>x</script>@example.com', 'not the password');
  expect([unknown.status, unknown.body.includes('<script')]).toEqual([401, false]);
  for (let count = 1; count < 5; count++) await browser.login(person.email, 'not the password');
  expect(refused(await browser.login(person.email, person.password))).toEqual([429, 'RATE_LIMIT_HIT']);
  const byKey = await realm.spectator.post('/fetch_api_key', { username: person.email, password: person.password });
  expect(refused(byKey)).toEqual([429, 'RATE_LIMIT_HIT']);
});

test('a login redirects only to paths of this server', async () => {
  const { email, password } = await realm.person();
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil',
    'javascript:alert(1)',
    '/a\tb',
    '/ü',
  ]) {
    const { status, headers } = await new Browser(realm.spectator).login(email, password, { next });
    expect([next, status, headers.location]).toEqual([next, 303, '/']);
  }
});

test('a logout ends the session and its polls, but not other sessions of the user', async () => {
  const person = await realm.person();
  const [here, there] = [await loggedIn(person), await loggedIn(person)];
  const { body } = await here.json('POST', '/register', { event_types: ['message'] });
  const poll = here.json('GET', '/events', { queue_id: body.queue_id, last_event_id: body.last_event_id });
  const old = here.session;
  const out = await here.send('POST', '/accounts/logout', {}, { origin: here.origin });
  expect([out.status, out.headers.location, here.session, here.token]).toEqual([303, '/accounts/login', '', '']);
  await realm.guest.ok('POST', '/messages', { type: 'direct', to: [person.user_id], content: 'a secret' });
  const ended = await poll;
  // Whether the poll was already waiting or not, its answer contains no event from after the logout.
  expect([200, 401]).toContain(ended.status);
  expect(JSON.stringify(ended.body)).not.toContain('secret');
  here.cookies.set('sessionid', old);
  expect(refused(await here.json('GET', '/users/me'))).toEqual(loggedOut);
  const next = await here.json('GET', '/events', { queue_id: body.queue_id, last_event_id: body.last_event_id });
  expect(refused(next)).toEqual(loggedOut);
  expect((await there.json('GET', '/users/me')).status).toBe(200);
  expect((await person.get('/users/me')).status).toBe(200);
  const all = await there.send('POST', '/accounts/logout', { everywhere: true }, { origin: there.origin });
  expect(all.status).toBe(303);
  expect(refused(await person.get('/users/me'))).toEqual([401, 'INVALID_API_KEY']);
});

test('a new password ends all sessions except the current one', async () => {
  const person = await realm.person();
  const [here, there] = [await loggedIn(person), await loggedIn(person)];
  const passwords = { old_password: person.password, new_password: 'another good password' };
  expect((await here.json('PATCH', '/settings', passwords)).status).toBe(200);
  expect((await here.json('GET', '/users/me')).status).toBe(200);
  expect(refused(await there.json('GET', '/users/me'))).toEqual(loggedOut);
  expect(refused(await person.get('/users/me'))).toEqual([401, 'INVALID_API_KEY']);
});

test('regenerating the key, deactivation and reactivation end sessions', async () => {
  const person = await realm.person();
  const [here, there] = [await loggedIn(person), await loggedIn(person)];
  const { body } = await here.json('POST', '/users/me/api_key/regenerate');
  expect((await here.json('GET', '/users/me')).status).toBe(200);
  expect(refused(await there.json('GET', '/users/me'))).toEqual(loggedOut);
  const key = { authorization: authorizationOf({ email: person.email, api_key: body.api_key }) };
  expect((await realm.spectator.post('/users/me/api_key/regenerate', {}, key)).status).toBe(200);
  expect(refused(await here.json('GET', '/users/me'))).toEqual(loggedOut);
  const again = await loggedIn(person);
  await realm.owner.ok('DELETE', `/users/${person.user_id}`);
  expect(refused(await again.json('GET', '/users/me'))).toEqual([401, 'USER_DEACTIVATED']);
  expect((await new Browser(realm.spectator).login(person.email, person.password)).status).toBe(401);
  await realm.owner.ok('POST', `/users/${person.user_id}/reactivate`);
  expect(refused(await again.json('GET', '/users/me'))).toEqual(loggedOut);
});

test('sessions are listed with the keys, can be revoked one by one, and are limited to twenty', async () => {
  const person = await realm.person();
  const first = await loggedIn(person);
  const browsers = [first];
  for (let count = 1; count < 21; count++) browsers.push(await loggedIn(person));
  const last = browsers.at(-1) as Browser;
  const list = async () => (await last.json('GET', '/users/me/api_keys')).body.api_keys;
  const sessions = (await list()).filter((one: { is_session: boolean }) => one.is_session);
  expect([sessions.length, sessions.filter((one: { is_current: boolean }) => one.is_current).length]).toEqual([20, 1]);
  expect(refused(await first.json('GET', '/users/me'))).toEqual(loggedOut);
  expect((await person.get('/users/me')).status).toBe(200);
  expect((await last.json('DELETE', `/users/me/api_keys/${sessions[0].id}`)).status).toBe(200);
  expect(refused(await (browsers[1] as Browser).json('GET', '/users/me'))).toEqual(loggedOut);
  expect((await list()).length).toBe(20);
});

test('images of messages are shown only to a browser with a session', async () => {
  const browser = await loggedIn(realm.member);
  const { url } = (await uploadTo(realm.member, '/user_uploads')).body;
  expect((await browser.send('GET', url)).status).toBe(200);
  expect((await new Browser(realm.spectator).send('GET', url)).status).not.toBe(200);
  browser.cookies.set('sessionid', 'x'.repeat(43));
  expect((await browser.send('GET', url)).status).not.toBe(200);
});

test('a session is stored as a hash, and each use extends it up to its latest end', async () => {
  const person = await realm.person();
  const browser = await loggedIn(person);
  const [used, late, old] = [await loggedIn(person), await loggedIn(person), await loggedIn(person)];
  const hash = ({ session }: Browser) => createHash('sha256').update(session).digest('hex');
  await connected(async (client) => {
    const set = (one: Browser, expires: string, ends: string) =>
      client.query(
        `UPDATE users.api_key SET expires_at = now() + $2::interval, ends_at = now() + $3::interval
        WHERE hash = decode($1, 'hex') RETURNING id`,
        [hash(one), expires, ends],
      );
    const daysLeft = async (one: Browser): Promise<number> => {
      const { rows } = await client.query(
        "SELECT extract(epoch FROM expires_at - now())::float8 / 86400 AS days FROM users.api_key WHERE hash = decode($1, 'hex')",
        [hash(one)],
      );
      return rows[0]?.days ?? -1;
    };
    expect((await set(browser, '-1 second', '1 day')).rows).toHaveLength(1);
    await set(used, '1 hour', '80 days');
    await set(late, '1 hour', '3 days');
    await set(old, '-1 second', '-1 second');
    expect(refused(await browser.json('GET', '/users/me'))).toEqual(loggedOut);
    expect(refused(await old.json('GET', '/users/me'))).toEqual(loggedOut);
    for (const one of [used, late]) expect((await one.json('GET', '/users/me')).status).toBe(200);
    await expect.poll(() => daysLeft(used)).toBeGreaterThan(13);
    await expect.poll(() => daysLeft(late)).toBeGreaterThan(2.9);
    expect(await daysLeft(late)).toBeLessThan(3.01);
    const { body } = await used.json('GET', '/users/me/api_keys');
    expect(body.api_keys.filter((one: { is_session: boolean }) => one.is_session)).toHaveLength(2);
  });
});
