/** Two changes at once: the first waits before its commit while the second begins. */
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { behindRows, holdRows, waitingFor } from '../../held-rows.ts';
import { Browser } from '../browser.ts';
import { uploadTo } from '../upload.ts';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm({ havePasswords: true });
});

/** Locks a row of this realm until the client ends the transaction. */
const hold = (client: pg.Client, rows: string): Promise<number> => holdRows(client, { rows, values: [realm.id] });
/** A commit needs it. */
const clockRow = 'log.clock WHERE realm_id = $1 FOR UPDATE';
/** Begins each change after the one before waits in front of its commit, and then lets all commit. */
const atOnce = <R = Answer>(...changes: (() => Promise<R>)[]): Promise<R[]> =>
  behindRows({ rows: clockRow, values: [realm.id] }, changes);

const statuses = (answers: Answer[]): number[] => answers.map(({ status }) => status);

test('a domain that is removed while another one is added leaves the restriction to domains', async () => {
  const { owner } = realm;
  await owner.ok('POST', '/realm/domains', { domain: 'first.example', allow_subdomains: false });
  await owner.ok('PATCH', '/realm', { emails_restricted_to_domains: true });
  const answers = await atOnce(
    () => owner.post('/realm/domains', { domain: 'second.example', allow_subdomains: false }),
    () => owner.delete('/realm/domains/first.example'),
  );
  expect(statuses(answers)).toEqual([200, 200]);
  const state = await owner.ok('POST', '/register', { fetch_event_types: ['realm', 'realm_domains'] });
  expect([state.realm_domains, state.realm_emails_restricted_to_domains]).toEqual([
    [{ domain: 'second.example', allow_subdomains: false }],
    true,
  ]);
});

test('an account that is made while the subdomains of a domain are forbidden is not of one of them', async () => {
  const { owner } = realm;
  await owner.ok('POST', '/realm/domains', { domain: 'first.example', allow_subdomains: true });
  await owner.ok('PATCH', '/realm', { emails_restricted_to_domains: true });
  const account = { email: 'new@sub.first.example', full_name: 'Newcomer', password: 'a long password' };
  const answers = await atOnce(
    () => owner.patch('/realm/domains/first.example', { allow_subdomains: false }),
    () => owner.post('/users', account),
  );
  expect(statuses(answers)).toEqual([200, 400]);
  expect(answers[1]?.body.msg).toBe('Your email address is not from an allowed domain.');
});

test('a member who becomes a guest while the waiting period ends is no full member', async () => {
  const { owner, member, member2 } = realm;
  const newcomer = await realm.person();
  await owner.ok('PATCH', '/realm', { waiting_period_threshold: 1 });
  const fullMembers = async (): Promise<number[]> =>
    (await owner.ok('GET', '/user_groups')).user_groups.find(({ name }: Json) => name === 'role:fullmembers').members;
  expect(await fullMembers()).toEqual([]);
  await connected((holder) =>
    connected(async (observer) => {
      await observer.query("UPDATE users.account SET joined_at = now() - interval '2 days' WHERE id = ANY ($1)", [
        [member.user_id, member2.user_id],
      ]);
      // The timer adds members, and then waits for the lock of this row in order to delete it.
      await observer.query(
        `INSERT INTO users.group_member (group_id, user_id)
         SELECT id, $2 FROM users.user_group WHERE realm_id = $1 AND name = 'role:fullmembers'`,
        [realm.id, newcomer.user_id],
      );
      const row = `users.group_member WHERE user_id = ${newcomer.user_id} AND group_id =
        (SELECT id FROM users.user_group WHERE realm_id = $1 AND name = 'role:fullmembers') FOR UPDATE`;
      const pid = await hold(holder, row);
      await expect.poll(() => waitingFor(observer, pid)).toBe(1);
      let isAnswered = false;
      const change = owner.patch(`/users/${member.user_id}`, { role: 600 }).finally(() => {
        isAnswered = true;
      });
      await expect.poll(async () => isAnswered || (await waitingFor(observer, pid)) > 1).toBe(true);
      await holder.query('ROLLBACK');
      expect((await change).status).toBe(200);
    }),
  );
  await expect.poll(fullMembers).toContain(member2.user_id);
  expect(await fullMembers()).toEqual([member2.user_id]);
});

test('two users who take the same name at once do not both get it where names are unique', async () => {
  const { owner, member, member2 } = realm;
  await owner.ok('PATCH', '/realm', { require_unique_names: true });
  const renamed = await atOnce(
    () => member.patch('/settings', { full_name: 'Same Name' }),
    () => member2.patch('/settings', { full_name: 'same name' }),
  );
  expect(statuses(renamed)).toEqual([200, 400]);
  const create = (email: string) => () =>
    owner.post('/users', { email, full_name: 'Same Newcomer', password: 'a long password' });
  const created = await atOnce(create(`one@${realm.host}`), create(`two@${realm.host}`));
  expect(statuses(created)).toEqual([200, 400]);
  expect(created[1]?.body.msg).toBe('Unique names required in this organization.');
});

/** Changes of users and of the realm need it. */
const realmRow = 'users.realm WHERE id = $1 FOR NO KEY UPDATE';

test('a change that is announced to the users who see a user locks the realm before the user', async () => {
  const { owner, member } = realm;
  const { id } = await owner.ok('POST', '/realm/profile_fields', { name: 'Town', field_type: 1 });
  const changes = [
    () => member.post('/users/me/status', { status_text: 'here' }),
    () => member.patch('/settings', { timezone: 'Europe/Berlin' }),
    () => member.patch('/settings', { presence_enabled: false }),
    () => member.patch('/users/me/profile_data', { data: [{ id, value: 'Bern' }] }),
  ];
  await connected((holder) =>
    connected(async (observer) => {
      const pid = await hold(holder, realmRow);
      const begun = changes.map((change) => change());
      await expect.poll(() => waitingFor(observer, pid)).toBe(changes.length);
      const free = `SELECT id FROM users.account WHERE id = ${member.user_id} FOR NO KEY UPDATE NOWAIT`;
      expect((await observer.query(free)).rows).toHaveLength(1);
      await holder.query('ROLLBACK');
      expect(statuses(await Promise.all(begun))).toEqual([200, 200, 200, 200]);
    }),
  );
});

test('an account that is made while the rules of the organization change obeys the new rules', async () => {
  const { owner, member } = realm;
  const create = (email: string, full_name: string) =>
    owner.post('/users', { email, full_name, password: 'a long password' });
  const { full_name } = (await member.ok('GET', '/users/me')) as { full_name: string };
  await connected((holder) =>
    connected(async (observer) => {
      const pid = await hold(holder, realmRow);
      const begun = [create('namesake@natter.example', full_name), create('new@mailinator.com', 'Newcomer')];
      await expect.poll(() => waitingFor(observer, pid)).toBe(begun.length);
      const rules = JSON.stringify({ require_unique_names: true, disallow_disposable_email_addresses: true });
      await holder.query('UPDATE users.realm SET settings = settings || $2::jsonb WHERE id = $1', [realm.id, rules]);
      await holder.query('COMMIT');
      expect((await Promise.all(begun)).map(({ status, body }) => [status, body.msg])).toEqual([
        [400, 'Unique names required in this organization.'],
        [400, 'Please use your real email address.'],
      ]);
    }),
  );
});

test('invitations to addresses that are not permitted are refused while the realm is locked', async () => {
  const { owner } = realm;
  await owner.ok('PATCH', '/realm', { disallow_disposable_email_addresses: true });
  await connected(async (holder) => {
    await hold(holder, realmRow);
    const invitee_emails = 'nowhere,one@natter.example,two@mailinator.com';
    const { status, body } = await owner.post('/invites', { invitee_emails, stream_ids: [] });
    expect([status, body.errors]).toEqual([
      400,
      [
        ['nowhere', 'Invalid address.', false],
        ['two@mailinator.com', 'Please use your real email address.', false],
      ],
    ]);
  });
});

test('no invitation to verify an address stays open if an account with the address is made at the same time', async () => {
  const { owner, spectator } = realm;
  await owner.ok('PATCH', '/realm', { invite_links_verify_email: true });
  const { invite_link } = await owner.ok('POST', '/invites/multiuse');
  const account = { email: 'both@natter.example', full_name: 'Both', password: 'a long password' };
  const [made, joined] = await atOnce(
    () => owner.post('/users', account),
    () => spectator.post('/join', { ...account, key: invite_link.split('/').at(-2) }),
  );
  expect([made?.status, joined?.body.is_mail_sent]).toEqual([200, true]);
  await connected(async (observer) => {
    const open = `SELECT id FROM users.invitation WHERE realm_id = $1 AND email = $2 AND NOT is_closed`;
    expect((await observer.query(open, [realm.id, account.email])).rows).toEqual([]);
  });
});

/** A mailed link, which the person need not have asked for: to set a new password, or to confirm the address. */
async function linkKey({ user_id }: Client, kind: 'password' | 'email', email: string): Promise<string> {
  const key = randomBytes(24).toString('base64url');
  const hash = createHash('sha256').update(key).digest();
  await connected((database) =>
    database.query(
      `INSERT INTO users.confirmation (hash, realm_id, user_id, kind, email, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + interval '1 hour')`,
      [hash, realm.id, user_id, kind, email],
    ),
  );
  return key;
}

async function botOf(who: Client, short_name: string): Promise<Client> {
  const { user_id, api_key } = await who.ok('POST', '/bots', { full_name: short_name, short_name });
  return new Client(who, { user_id, api_key, email: `${short_name}-bot@${realm.host}`, full_name: short_name });
}

test('a key that is made while all keys of its user end, ends with them', async () => {
  const { member, member2, spectator } = realm;
  const bot = await botOf(member, 'keys');
  const key = await linkKey(member, 'password', member.email);
  const ends: [Client, () => Promise<unknown>][] = [
    [member, () => spectator.ok('POST', `//accounts/password/reset/${key}`, { password: 'another long password' })],
    [member2, () => realm.revokeKeys(member2.email)],
    [bot, () => realm.revokeKeys(bot.email)],
  ];
  for (const [who, end] of ends) {
    const regenerate = () => who.ok('POST', '/users/me/api_key/regenerate');
    const [made] = await atOnce<Json>(regenerate, end);
    const { status, body } = await new Client(spectator, { ...who, ...made }).get('/users/me');
    expect([who.email, status, body.code]).toEqual([who.email, 401, 'INVALID_API_KEY']);
  }
});

const accountOf = ({ user_id }: Client) => ({
  rows: 'users.account WHERE id = $1 FOR NO KEY UPDATE',
  values: [user_id],
});

test('a login that is not committed before a logout everywhere ends with it', async () => {
  const { member, spectator } = realm;
  const { email: username, password } = member;
  const browser = new Browser(spectator);
  await browser.login(username, password);
  const [made, out] = await behindRows<Json>(accountOf(member), [
    () => spectator.ok('POST', '/fetch_api_key', { username, password }),
    () => browser.send('POST', '/accounts/logout', { everywhere: true }, { origin: browser.origin }),
  ]);
  expect(out?.status).toBe(303);
  const { status, body } = await new Client(spectator, { ...member, ...made }).get('/users/me');
  expect([status, body.code]).toEqual([401, 'INVALID_API_KEY']);
});

test('the link of a mail is used after the account is locked, and once', async () => {
  const { member, spectator } = realm;
  const [one, two] = [await linkKey(member, 'password', member.email), await linkKey(member, 'password', member.email)];
  const confirming = await linkKey(member, 'email', `new@${realm.host}`);
  const set = (key: string) => () =>
    spectator.post(`//accounts/password/reset/${key}`, { password: 'another long password' });
  const answers = await behindRows(
    accountOf(member),
    [set(one), set(one), set(two), () => spectator.post(`//accounts/confirm_new_email/${confirming}`)],
    async (observer) => {
      const links = 'SELECT FROM users.confirmation WHERE user_id = $1 FOR UPDATE NOWAIT';
      expect((await observer.query(links, [member.user_id])).rowCount).toBe(3);
    },
  );
  // A new password ends all links.
  expect(statuses(answers)).toEqual([200, 404, 404, 404]);
});

test('requests that each add much do not exceed a limit together', async () => {
  const { member } = realm;
  const bot = await botOf(member, 'words');
  const alert_words = Array.from({ length: 600 }, (_, index) => `word ${index}`);
  const add = (who: Client) => () => who.post('/users/me/alert_words', { alert_words });
  expect(statuses(await atOnce(add(member), add(bot))).sort()).toEqual([200, 400]);

  // 8,000 bytes each, with its HTML, of the 512 KiB of one user.
  const description = '𝓌'.repeat(1_000);
  const create = (request: number) => () => {
    const subscriptions = Array.from({ length: 25 }, (_, index) => ({ name: `${request} ${index}`, description }));
    return member.post('/users/me/subscriptions', { subscriptions });
  };
  expect(statuses(await atOnce(create(1), create(2), create(3))).sort()).toEqual([200, 200, 400]);
});

test('a request that subscribes and unsubscribes locks all named channels in the order of their IDs', async () => {
  const { member, member2 } = realm;
  await member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'left' }] });
  await member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'joined' }] });
  await connected((holder) =>
    connected(async (observer) => {
      const pid = await hold(holder, "channels.channel WHERE realm_id = $1 AND name = 'left' FOR UPDATE");
      const change = member.patch('/users/me/subscriptions', { add: [{ name: 'joined' }], delete: ['left'] });
      await expect.poll(() => waitingFor(observer, pid)).toBe(1);
      const free = "SELECT id FROM channels.channel WHERE realm_id = $1 AND name = 'joined' FOR UPDATE SKIP LOCKED";
      expect((await observer.query(free, [realm.id])).rows).toHaveLength(1);
      await holder.query('ROLLBACK');
      expect((await change).body).toMatchObject({ subscribed: { [member.user_id]: ['joined'] }, removed: ['left'] });
    }),
  );
});

test('an invitation link that is made while its author is deactivated ends with the other invitations', async () => {
  const { owner, member } = realm;
  const everyone = (await owner.ok('GET', '/user_groups')).user_groups.find(
    ({ name }: Json) => name === 'role:members',
  );
  await owner.ok('PATCH', '/realm', { create_multiuse_invite_group: { new: everyone.id } });
  const answers = await atOnce(
    () => member.post('/invites/multiuse'),
    () => owner.delete(`/users/${member.user_id}`),
  );
  expect(statuses(answers)).toEqual([200, 200]);
  await connected(async (observer) => {
    const open = 'SELECT id FROM users.invitation WHERE inviter_id = $1 AND NOT is_closed';
    expect((await observer.query(open, [member.user_id])).rows).toEqual([]);
  });
});

test('a change is refused if its user loses the permission of the organization before the commit', async () => {
  const { owner, member } = realm;
  const groups: Json[] = (await owner.ok('GET', '/user_groups')).user_groups;
  const idOf = (name: string): number => groups.find((group) => group.name === name)?.id;
  await uploadTo(member, '/realm/emoji/lost');
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'kept', description: '', members: [] });
  const changes: [string, () => Promise<Answer>][] = [
    ['can_add_custom_emoji_group', () => member.delete('/realm/emoji/lost')],
    ['can_create_groups', () => member.post('/user_groups/create', { name: 'made', description: '', members: [] })],
    ['can_manage_all_groups', () => member.patch(`/user_groups/${group_id}`, { name: 'changed' })],
  ];
  for (const [permission, change] of changes) {
    await owner.ok('PATCH', '/realm', { [permission]: { new: idOf('role:members') } });
    const answer = await connected((clock) =>
      connected(async (observer) => {
        const pid = await hold(clock, clockRow);
        const begun = change();
        await expect.poll(() => waitingFor(observer, pid)).toBe(1);
        await clock.query('UPDATE users.realm SET permissions = permissions || $2::jsonb WHERE id = $1', [
          realm.id,
          JSON.stringify({ [permission]: idOf('role:administrators') }),
        ]);
        await clock.query("UPDATE log.version SET version = version + 1 WHERE realm_id = $1 AND key = 'realm'", [
          realm.id,
        ]);
        await clock.query('COMMIT');
        return begun;
      }),
    );
    expect([permission, answer.status]).toEqual([permission, 400]);
  }
});
