import { createDatabase, sql } from '@natter/database';
import { expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../../api.ts';
import { requestOnce, untilServed } from '../../patience.ts';
import { mails, system } from './system.ts';

const nobody: Credentials = { email: '', api_key: '' };
const password = 'a rather good password';
let count = 0;

async function ok(who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await requestOnce(system.url, who, `${method} ${path}`, form);
  expect([status, body.msg]).toEqual([200, '']);
  return body;
}
const logIn = (username: string, secret = password) =>
  untilServed(() => request(system.url, nobody, 'POST /fetch_api_key', { username, password: secret }));

/** An account that is an hour old. */
async function person(): Promise<Credentials & { user_id: number }> {
  const email = `person${++count}@natter.example`;
  const { user_id } = await ok(system.people.owner, 'POST', '/users', {
    email,
    password,
    full_name: `Person ${count}`,
  });
  const database = createDatabase({
    url: system.servers.postgresUrl,
    maxConnections: 1,
    name: 'test',
    onError: () => undefined,
  });
  await database.run(sql.unsafe`UPDATE users.account SET joined_at = now() - interval '1 hour' WHERE id = ${user_id}`);
  await database.close();
  const { body } = await logIn(email);
  await mails.next(email);
  return { user_id, email, api_key: body.api_key };
}

interface Shown {
  status: number;
  text: string;
  /** The fields that its form would send unchanged. */
  action: string;
  fields: Record<string, string>;
}

/** Opens a page like a browser, or submits its form. */
async function open(
  url: string,
  fields?: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Shown> {
  const response = await fetch(url, {
    ...(fields ? { method: 'POST', body: new URLSearchParams(fields) } : {}),
    headers,
    redirect: 'manual',
  });
  const text = await response.text();
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  const inputs = [...text.matchAll(/<input ([^>]*)>/g)].map((match) => match[1] ?? '');
  const attribute = (input: string, name: string): string => new RegExp(`${name}="([^"]*)"`).exec(input)?.[1] ?? '';
  return {
    status: response.status,
    text,
    action: `${system.url}${/<form method="post" action="([^"]*)"/.exec(text)?.[1] ?? ''}`,
    fields: Object.fromEntries(inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')])),
  };
}

test('the page of a mailed invitation creates one account', async () => {
  const email = 'invited@natter.example';
  await ok(system.people.owner, 'POST', '/invites', { invitee_emails: email, stream_ids: [], invite_as: 300 });
  const mail = await mails.next(email);
  expect(mail.link).toMatch(/\/accounts\/do_confirm\/[a-z0-9]{40}$/);
  const page = await open(mail.link);
  expect(page.status).toBe(200);
  expect(page.text).toContain(email);

  const weak = await open(page.action, { ...page.fields, full_name: 'Invited One', password: '123456' });
  expect([weak.status, weak.fields.full_name]).toEqual([400, 'Invited One']);
  expect(weak.text).toContain('role="alert"');
  const filled = { ...weak.fields, password };
  const made = await open(weak.action, filled);
  expect(made.status).toBe(200);
  expect(made.text).toContain(email);
  const { status, body } = await logIn(email);
  expect(status).toBe(200);
  const own = await ok({ email, api_key: body.api_key }, 'GET', '/users/me');
  expect([own.full_name, own.role]).toEqual(['Invited One', 300]);

  // Submitting a page twice creates one account; afterwards the link is invalid.
  expect((await open(weak.action, filled)).text).toBe(made.text);
  expect((await open(mail.link)).status).toBe(404);
  expect((await open(page.action, { full_name: 'Another', password })).status).toBe(404);
});

test('joining twice under one Idempotency-Key creates one account and returns the same API key', async () => {
  const { invite_link } = await ok(system.people.owner, 'POST', '/invites/multiuse');
  const key = invite_link.split('/').at(-2);
  const form = { key, email: 'joining@natter.example', full_name: 'Joining One', password };
  const header = { 'idempotency-key': 'join once' };
  const join = () => request(system.url, { ...nobody, headers: header }, 'POST /join', form);
  const [first, second] = await Promise.all([join(), join()]);
  expect([first.status, second.body]).toEqual([200, first.body]);
  expect((await join()).body).toEqual(first.body);
  await ok({ email: form.email, api_key: first.body.api_key }, 'GET', '/users/me');
  // The key without the password does not log in.
  const guessed = await request(system.url, { ...nobody, headers: header }, 'POST /join', {
    ...form,
    password: 'guessed it',
  });
  expect(guessed.body.api_key).not.toBe(first.body.api_key);
  const other = await request(system.url, { ...nobody, headers: header }, 'POST /join', {
    ...form,
    full_name: 'Other',
  });
  expect([other.status, other.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  const page = await open(invite_link);
  const fields = { ...page.fields, email: 'paged@natter.example', full_name: 'Paged One', password };
  const answers = await Promise.all([1, 2].map(() => open(page.action, fields, { 'idempotency-key': 'page once' })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]?.text).toContain('paged@natter.example');
});

test('a new address takes effect when the link that was mailed to it is opened', async () => {
  const who = await person();
  const email = `changed${count}@natter.example`;
  await ok(who, 'PATCH', '/settings', { email, old_password: password });
  expect((await ok(who, 'GET', '/users/me')).delivery_email).toBe(who.email);
  const { link } = await mails.next(email);
  const { queue_id } = await ok(system.people.owner, 'POST', '/register', { event_types: ['realm_user'] });
  // A mail scanner opens the link, and a preview sends HEAD: neither has an effect.
  expect((await fetch(link, { method: 'HEAD' })).status).toBe(200);
  const shown = await open(link);
  expect(shown.text).toContain(email);
  expect((await ok(who, 'GET', '/users/me')).delivery_email).toBe(who.email);
  const page = await open(shown.action, {});
  expect(page.status).toBe(200);
  expect(page.text).toContain(email);
  const told = await mails.next(who.email);
  expect(told.text).toContain(email);
  const { events } = await ok(system.people.owner, 'GET', '/events', { queue_id, last_event_id: -1 });
  expect(events[0]).toMatchObject({ op: 'update', person: { user_id: who.user_id, delivery_email: email } });
  expect((await ok({ ...who, email }, 'GET', '/users/me')).delivery_email).toBe(email);
  expect((await open(link)).status).toBe(404);
  expect((await open(shown.action, {})).status).toBe(404);
});

test('a link to a new address does not work while the organization disables such changes', async () => {
  const who = await person();
  const email = `disabled${count}@natter.example`;
  await ok(who, 'PATCH', '/settings', { email, old_password: password });
  const { action } = await open((await mails.next(email)).link);
  await ok(system.people.owner, 'PATCH', '/realm', { email_changes_disabled: true });
  expect((await open(action, {})).status).toBe(404);
  expect((await ok(who, 'GET', '/users/me')).delivery_email).toBe(who.email);
  await ok(system.people.owner, 'PATCH', '/realm', { email_changes_disabled: false });
  expect((await open(action, {})).status).toBe(200);
  expect((await ok({ ...who, email }, 'GET', '/users/me')).delivery_email).toBe(email);
});

test('a link cannot take an address that is in use meanwhile, and a newer request invalidates it', async () => {
  const who = await person();
  const [first, second] = [`first${count}@natter.example`, `second${count}@natter.example`];
  await ok(who, 'PATCH', '/settings', { email: first, old_password: password });
  const old = await mails.next(first);
  await ok(who, 'PATCH', '/settings', { email: second, old_password: password });
  const newer = await mails.next(second);
  expect((await open(old.link)).status).toBe(404);
  await ok(system.people.owner, 'POST', '/users', { email: second, password, full_name: 'Faster' });
  expect((await open((await open(newer.link)).action, {})).status).toBe(404);
  expect((await ok(who, 'GET', '/users/me')).delivery_email).toBe(who.email);
});

test('a password reset link works once, and the request does not reveal whether an account exists', async () => {
  const who = await person();
  await ok(who, 'PATCH', '/settings', { default_language: 'de' });
  const page = await open(`${system.url}/accounts/password/reset`);
  expect(page.status).toBe(200);
  const asked = await open(page.action, { email: who.email.toUpperCase() });
  const unknown = await open(page.action, { email: 'unknown@natter.example' });
  expect([asked.status, unknown.text]).toEqual([200, asked.text]);
  const mail = await mails.next(who.email);
  expect(mail.subject).toContain('Passwort');
  const form = await open(mail.link);
  expect(form.status).toBe(200);
  const weak = await open(form.action, { password: 'password' });
  expect(weak.status).toBe(400);
  expect(weak.text).toContain('role="alert"');
  const next = 'quite another password';
  expect((await open(weak.action, { password: next })).status).toBe(200);
  expect((await logIn(who.email)).body.code).toBe('AUTHENTICATION_FAILED');
  expect((await logIn(who.email, next)).status).toBe(200);
  // Earlier keys of the account are revoked.
  expect((await request(system.url, who, 'GET /users/me')).status).toBe(401);
  expect((await open(mail.link)).status).toBe(404);
  expect((await open(form.action, { password: 'yet another password' })).status).toBe(404);
  expect(mails.received.filter(({ to }) => to.includes('unknown@natter.example'))).toEqual([]);
});

test('a link to set a password or confirm an address is invalid after the address or password changes', async () => {
  const who = await person();
  const page = await open(`${system.url}/accounts/password/reset`);
  await open(page.action, { email: who.email });
  const reset = await mails.next(who.email);
  const owner = system.people.owner;
  const moved = `moved${count}@natter.example`;
  await ok(owner, 'PATCH', `/users/${who.user_id}`, { new_email: moved });
  expect((await mails.next(who.email)).text).toContain(moved);
  expect((await open(reset.link)).status).toBe(404);

  // An attacker who knew the old password has requested a change to their own address.
  const thief = `thief${count}@natter.example`;
  await ok({ ...who, email: moved }, 'PATCH', '/settings', { email: thief, old_password: password });
  const { link } = await mails.next(thief);
  await open(page.action, { email: moved });
  const form = await open((await mails.next(moved)).link);
  expect((await open(form.action, { password: 'quite another password' })).status).toBe(200);
  expect((await open(link)).status).toBe(404);
  expect((await open(link, {})).status).toBe(404);
});

test('a deactivated user gets no password reset link, and earlier links do not work', async () => {
  const who = await person();
  const page = await open(`${system.url}/accounts/password/reset`);
  await open(page.action, { email: who.email });
  const { link } = await mails.next(who.email);
  await ok(system.people.owner, 'DELETE', `/users/${who.user_id}`);
  const form = await open(link);
  expect(
    (await open(`${system.url}${new URL(link).pathname}`, { ...form.fields, password: 'some password' })).status,
  ).toBe(404);
  await ok(system.people.owner, 'POST', `/users/${who.user_id}/reactivate`);
  expect((await open(link)).status).toBe(404);
  await ok(system.people.owner, 'DELETE', `/users/${who.user_id}`);
  await open(page.action, { email: who.email });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(
    mails.received.filter(({ to, subject }) => to.includes(who.email) && subject.includes('password')),
  ).toHaveLength(1);
});

test('a login is announced by mail unless the user disabled these mails', async () => {
  const who = await person();
  await logIn(who.email);
  expect((await mails.next(who.email)).text).toMatch(/logged in/);
  await ok(who, 'PATCH', '/settings', { enable_login_emails: false });
  const received = () => mailsTo(who.email, /login/).length;
  const before = received();
  expect(before).toBeGreaterThan(0);
  expect((await logIn(who.email)).status).toBe(200);
  await settled();
  expect(received()).toBe(before);
});

test("a deactivated user is mailed the administrator's comment, and nothing without a comment", async () => {
  const [told, not] = [await person(), await person()];
  await ok(system.people.owner, 'DELETE', `/users/${not.user_id}`);
  const form = { deactivation_notification_comment: 'Thank you for everything.' };
  await ok(system.people.owner, 'DELETE', `/users/${told.user_id}`, form);
  const mail = await mails.next(told.email);
  expect(mail.text).toContain('Thank you for everything.');
  expect(mails.received.filter(({ to, text }) => to.includes(not.email) && /deactivated/.test(text))).toEqual([]);
});

const resetFrom = (network: string, email: string) =>
  fetch(`${system.url}/accounts/password/reset`, {
    method: 'POST',
    body: new URLSearchParams({ email }),
    headers: { 'x-forwarded-for': network },
  });
/** A further mail would arrive in this time. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 500));
const mailsTo = (to: string, subject: RegExp) =>
  mails.received.filter((mail) => mail.to.includes(to) && subject.test(mail.subject));
/** Waits for so many mails, and then for one too many. */
async function expectMails(to: string, subject: RegExp, many: number): Promise<void> {
  await expect.poll(() => mailsTo(to, subject).length).toBeGreaterThanOrEqual(many);
  await settled();
  expect(mailsTo(to, subject)).toHaveLength(many);
}

test("requests by strangers for password reset links neither block the owner's request nor fill the mailbox", async () => {
  const who = await person();
  for (let count = 0; count < 24; count++) expect((await resetFrom(`198.51.100.${count}`, who.email)).status).toBe(200);
  // The owner gets the same answer, and working links.
  expect((await resetFrom('192.0.2.7', who.email)).status).toBe(200);
  await expectMails(who.email, /password/, 3);
  const links = mailsTo(who.email, /password/).map(({ link }) => link);
  const forms = await Promise.all(links.map((link) => open(link)));
  expect(forms.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await open(forms[0]?.action ?? '', { password: 'quite another password' })).status).toBe(200);
  expect((await logIn(who.email, 'quite another password')).status).toBe(200);
  // Using one invalidates all.
  expect((await open(links[2] ?? '')).status).toBe(404);
  // A network that requests one address repeatedly is refused, whether or not the account exists.
  for (const email of [who.email, 'no-account@natter.example']) {
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await resetFrom('192.0.2.9', email)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  }
});

test('mails about logins and deactivations are not sent over the daily limit, but the actions succeed', async () => {
  const who = await person();
  for (let count = 0; count < 14; count++) expect((await logIn(who.email)).status).toBe(200);
  await expectMails(who.email, /New login/, 10);
  // Logins use up no notices of administrative actions.
  const form = { deactivation_notification_comment: 'Goodbye.' };
  for (let count = 0; count < 12; count++) {
    await ok(system.people.owner, 'DELETE', `/users/${who.user_id}`, form);
    await ok(system.people.owner, 'POST', `/users/${who.user_id}/reactivate`);
  }
  await expectMails(who.email, /deactivated/, 10);
});

test('the old address is notified of each change, and a change without a notification is rejected', async () => {
  const who = await person();
  const away = `away${count}@natter.example`;
  const move = (new_email: string) =>
    request(system.url, system.people.owner, `PATCH /users/${who.user_id}`, { new_email });
  const statuses: number[] = [];
  for (let round = 0; round < 11; round++) {
    statuses.push((await move(away)).status);
    if (round < 10) expect((await move(who.email)).status).toBe(200);
  }
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  await expectMails(who.email, /was changed/, 10);
});
