import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];

test('linkifiers can be added, changed, ordered and removed, and clients with URL templates receive the list', async () => {
  const knowing = await realm.guest.queue({
    event_types: ['realm_linkifiers'],
    client_capabilities: { linkifier_url_template: true },
  });
  const plain = await realm.guest.queue({ event_types: ['realm_linkifiers', 'message'] });
  const add = async (pattern: string, url_template: string): Promise<number> =>
    (await realm.owner.ok('POST', '/realm/filters', { pattern, url_template })).id;
  const a = await add('#(?P<id>[0-9]+)', 'https://issues.example/{id}');
  const b = await add('PR(?P<id>[0-9]+)', 'https://pulls.example/{id}');
  await realm.owner.ok('PATCH', `/realm/filters/${a}`, {
    pattern: '#(?P<n>[0-9]+)',
    url_template: 'https://i.example/{n}',
  });
  await realm.owner.ok('PATCH', '/realm/linkifiers', { ordered_linkifier_ids: [b, a] });
  const expected = [
    { id: b, pattern: 'PR(?P<id>[0-9]+)', url_template: 'https://pulls.example/{id}' },
    { id: a, pattern: '#(?P<n>[0-9]+)', url_template: 'https://i.example/{n}' },
  ];
  expect((await realm.guest.ok('GET', '/realm/linkifiers')).linkifiers).toEqual(expected);
  expect((await realm.guest.ok('GET', '/realm/filters')).filters).toEqual([]);
  await knowing.next((event) => event.realm_linkifiers[0]?.id === b);
  expect(knowing.seen.at(-1).realm_linkifiers).toEqual(expected);
  await realm.owner.ok('DELETE', `/realm/filters/${a}`);
  expect((await realm.guest.ok('GET', '/realm/linkifiers')).linkifiers).toEqual([expected[0]]);
  expect(await plain.settle()).toEqual([]);
  const register = (linkifier_url_template: boolean) =>
    realm.guest.ok('POST', '/register', {
      fetch_event_types: ['realm_linkifiers'],
      client_capabilities: { linkifier_url_template },
    });
  expect((await register(true)).realm_linkifiers).toEqual([expected[0]]);
  expect((await register(false)).realm_linkifiers).toEqual([]);
});

test('invalid linkifiers are rejected', async () => {
  const { id } = await realm.owner.ok('POST', '/realm/filters', {
    pattern: 'taken',
    url_template: 'https://e.example',
  });
  // The threads that check a pattern may still be starting.
  for (const form of [
    { pattern: 'taken', url_template: 'https://e.example' },
    { pattern: '', url_template: 'https://e.example' },
    { pattern: '(?=look)', url_template: 'https://e.example' },
    { pattern: '(unclosed', url_template: 'https://e.example' },
    { pattern: '#(?P<id>[0-9]+)', url_template: 'https://e.example' },
    { pattern: '#(?P<id>[0-9]+)', url_template: 'https://e.example/{id}/{other}' },
    { pattern: 'x', url_template: 'https://e.example/{' },
    { pattern: 'x', url_template: '' },
  ])
    expect(
      refused(await untilServed(() => realm.owner.send('POST', '/realm/filters', form))),
      JSON.stringify(form),
    ).toEqual(badRequest);
  expect(
    refused(await realm.owner.patch('/realm/filters/999999', { pattern: 'x', url_template: 'https://e' })),
  ).toEqual(badRequest);
  expect(refused(await realm.owner.delete('/realm/filters/999999'))).toEqual(badRequest);
  expect(refused(await realm.owner.patch('/realm/linkifiers', { ordered_linkifier_ids: [id, id] }))).toEqual(
    badRequest,
  );
});

test('playgrounds can be added and removed, and their template must have only the variable code', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_playgrounds'] });
  // 50 characters, each of two UTF-16 units.
  const form = { name: '🐍'.repeat(50), pygments_language: 'Python', url_template: 'https://play.example/?c={code}' };
  const { id } = await realm.owner.ok('POST', '/realm/playgrounds', form);
  expect((await queue.next(() => true)).realm_playgrounds).toEqual([{ id, ...form }]);
  for (const wrong of [
    {},
    { name: ' ' },
    { name: 'x'.repeat(51) },
    { name: '🐍'.repeat(51) },
    { pygments_language: '' },
    { pygments_language: 'a*b' },
    { url_template: 'https://play.example' },
    { url_template: 'javascript:run({code})' },
    { url_template: 'https://play.example/{code}/{more}' },
  ])
    expect(refused(await realm.owner.post('/realm/playgrounds', { ...form, ...wrong })), JSON.stringify(wrong)).toEqual(
      badRequest,
    );
  await realm.owner.ok('DELETE', `/realm/playgrounds/${id}`);
  expect((await queue.next(() => true)).realm_playgrounds).toEqual([]);
  expect(refused(await realm.owner.delete(`/realm/playgrounds/${id}`))).toEqual(badRequest);
});

test('owners can add, change and remove domains, and removing the last one ends the restriction', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_domains', 'realm'] });
  const { new_domain } = await realm.owner.ok('POST', '/realm/domains', {
    domain: 'Natter.Example',
    allow_subdomains: false,
  });
  expect(new_domain).toEqual([expect.any(Number), 'natter.example']);
  await realm.owner.ok('PATCH', '/realm', { emails_restricted_to_domains: true });
  await realm.owner.ok('PATCH', '/realm/domains/natter.example', { allow_subdomains: true });
  expect((await realm.member.ok('GET', '/realm/domains')).domains).toEqual([
    { domain: 'natter.example', allow_subdomains: true },
  ]);
  for (const [domain, msg] of [
    ['natter.example', 'The domain natter.example is already a part of your organization.'],
    [' ', "Invalid domain: Domain can't be empty."],
    ['nodot', 'Invalid domain: Domain must have at least one dot (.)'],
    ['.acme.com', 'Invalid domain: Domain cannot start or end with a dot (.)'],
    ['acme.com.', 'Invalid domain: Domain cannot start or end with a dot (.)'],
    ['acme..com', "Invalid domain: Consecutive '.' are not allowed."],
    ['-acme.com', "Invalid domain: Subdomains cannot start or end with a '-'."],
    ['acme-.com', "Invalid domain: Subdomains cannot start or end with a '-'."],
    ['ac_me.com', "Invalid domain: Domain can only have letters, numbers, '.' and '-'s."],
    ['bad domain.example', "Invalid domain: Domain can only have letters, numbers, '.' and '-'s."],
    [`${'a'.repeat(64)}.com`, 'Invalid domain: Subdomains cannot be longer than 63 characters.'],
  ]) {
    const { status, body } = await realm.owner.post('/realm/domains', { domain, allow_subdomains: false });
    expect([domain, status, body.msg]).toEqual([domain, 400, msg]);
  }
  expect(refused(await realm.owner.patch('/realm/domains/other.example', { allow_subdomains: true }))).toEqual(
    badRequest,
  );
  await realm.owner.ok('DELETE', '/realm/domains/natter.example');
  await queue.next((event) => event.property === 'emails_restricted_to_domains' && event.value === false);
  expect(queue.seen.map((event) => [event.type, event.op])).toEqual([
    ['realm_domains', 'add'],
    ['realm', 'update'],
    ['realm_domains', 'change'],
    ['realm_domains', 'remove'],
    ['realm', 'update'],
  ]);
});

test('a realm starts without custom emoji, and a missing emoji returns 404 with BAD_REQUEST', async () => {
  expect((await realm.member.ok('GET', '/realm/emoji')).emoji).toEqual({});
  expect(refused(await realm.owner.delete('/realm/emoji/nothing'))).toEqual([404, 'BAD_REQUEST']);
});

/** Permitted roles, written by hand from the reference. Each # is replaced by a number, so that names are unique. */
const matrix: [string, string, Json, string[]][] = [
  ['POST', '/realm/filters', { pattern: 'p#', url_template: 'https://e.example' }, ['owner', 'administrator']],
  [
    'POST',
    '/realm/playgrounds',
    { name: 'p#', pygments_language: 'C', url_template: 'https://e.example/{code}' },
    ['owner', 'administrator'],
  ],
  ['POST', '/realm/domains', { domain: 'd#.example', allow_subdomains: true }, ['owner']],
  ['POST', '/realm/profile_fields', { name: 'f#', field_type: 1 }, ['owner', 'administrator']],
  ['PATCH', '/realm', { description: 'd#' }, ['owner', 'administrator']],
  ['POST', '/invites/multiuse', {}, ['owner', 'administrator']],
  [
    'POST',
    '/invites',
    { invitee_emails: 'm#@natter.example', stream_ids: [] },
    ['owner', 'administrator', 'moderator', 'member'],
  ],
  [
    'POST',
    '/user_groups/create',
    { name: 'g#', description: '', members: [] },
    ['owner', 'administrator', 'moderator', 'member'],
  ],
  [
    'POST',
    '/saved_snippets',
    { title: 's#', content: 'c' },
    ['owner', 'administrator', 'moderator', 'member', 'guest'],
  ],
  [
    'POST',
    '/navigation_views',
    { fragment: 'n#', name: 'n#', is_pinned: true },
    ['owner', 'administrator', 'moderator', 'member', 'guest'],
  ],
  ['GET', '/realm/profile_fields', {}, ['owner', 'administrator', 'moderator', 'member', 'guest']],
  ['GET', '/user_groups', {}, ['owner', 'administrator', 'moderator', 'member', 'guest']],
];

test('each role has only its permitted operations, and spectators, deactivated and foreign users have none', async () => {
  const other = await openRealm();
  const gone = await realm.person({ role: 'owner' });
  await realm.owner.ok('DELETE', `/users/${gone.user_id}`);
  let count = 0;
  for (const [method, path, form, allowed] of matrix) {
    const attempt = async (client: typeof realm.owner): Promise<Json> => {
      const number = String(++count);
      const filled = JSON.parse(JSON.stringify(form).replaceAll('#', number));
      return client.send(method, path, filled);
    };
    for (const role of ['owner', 'administrator', 'moderator', 'member', 'guest'] as const) {
      const { status, body } = await attempt(realm[role]);
      expect(status, `${method} ${path} ${role} ${body.msg}`).toBe(allowed.includes(role) ? 200 : 400);
    }
    expect((await attempt(realm.spectator)).status, `${method} ${path} spectator`).toBe(401);
    expect((await attempt(gone)).status, `${method} ${path} deactivated`).toBe(401);
    const stranger = new Client({ url: realm.owner.url, host: realm.host }, other.owner);
    expect((await attempt(stranger)).status, `${method} ${path} stranger`).toBe(401);
  }
});

test('only owners can deactivate an organization, and all its users are rejected afterwards', async () => {
  const other = await openRealm({ havePasswords: true });
  for (const who of ['administrator', 'moderator', 'member', 'guest'] as const)
    expect(refused(await other[who].post('/realm/deactivate')), who).toEqual(badRequest);
  const queue = await other.member.queue({ event_types: ['realm'] });
  const held = queue.poll().catch((error: Error) => error.message);
  const { id } = await other.member.queue({ event_types: ['typing'] });
  const quiet = other.member.get('/events', { queue_id: id, last_event_id: -1 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await other.owner.ok('POST', '/realm/deactivate');
  // A held poll ends at once, without a heartbeat.
  expect((await quiet).body.events ?? []).toEqual([]);
  const seen = await held;
  if (Array.isArray(seen)) expect(seen).toMatchObject([{ type: 'realm', op: 'deactivated', realm_id: other.id }]);
  for (const who of ['owner', 'member'] as const) {
    const { status, body } = await other[who].get('/users/me');
    expect([status, body.code]).toEqual([401, 'REALM_DEACTIVATED']);
  }
  const login = await other.spectator.post('/fetch_api_key', {
    username: other.owner.email,
    password: other.owner.password,
  });
  expect([login.status, login.body.code]).toEqual([401, 'REALM_DEACTIVATED']);
});

test('the text of all linkifiers is limited to 64 KiB', async () => {
  const { owner } = await openRealm();
  const pattern = (index: number): string => `${'x'.repeat(900)}${index}`;
  const add = (index: number) =>
    owner.post('/realm/filters', { pattern: pattern(index), url_template: `https://x.example/${'y'.repeat(900)}` });
  for (let index = 10; index < 46; index++) expect((await add(index)).status).toBe(200);
  expect((await add(46)).body.msg).toBe('Too much text in linkifiers (limit: 64 KiB)');
  const { linkifiers } = await owner.ok('GET', '/realm/linkifiers');
  const change = (length: number) =>
    owner.patch(`/realm/filters/${linkifiers[0].id}`, {
      pattern: 'z'.repeat(900),
      url_template: `https://x.example/${'y'.repeat(length)}`,
    });
  expect((await change(950)).body.msg).toBe('Too much text in linkifiers (limit: 64 KiB)');
  expect((await change(800)).status).toBe(200);
});
