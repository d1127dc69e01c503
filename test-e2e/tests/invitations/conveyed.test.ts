import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';

let realm: Realm;
let groups: Record<string, number>;
beforeEach(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  groups = Object.fromEntries(user_groups.map((group: Json) => [group.name, group.id]));
});

const badRequest = [400, 'BAD_REQUEST'];
const refused = ({ status, body }: Json): Json => [status, body.code];
const link = async (client: Client, form: Json = {}): Promise<string> =>
  (await client.ok('POST', '/invites/multiuse', form)).invite_link.split('/').at(-2);
let count = 0;
const join = (key: string, form: Json = {}) =>
  realm.spectator.patiently('POST', '/join', {
    key,
    email: `new${++count}@natter.example`,
    full_name: `New ${count}`,
    password: 'a long password',
    ...form,
  });
const setRole = (who: Client, role: number) => realm.owner.ok('PATCH', `/users/${who.user_id}`, { role });
const permit = (permission: string, group: string) =>
  realm.owner.ok('PATCH', '/realm', { [permission]: { new: groups[group] } });
const makeChannel = async (client: Client, name: string, form: Json = {}): Promise<number> =>
  (await client.ok('POST', '/channels/create', { name, subscribers: [client.user_id], ...form })).id;
/** The channels of a user who joined, once they are subscribed. */
async function channelsOf(answer: Json): Promise<number[]> {
  expect(answer.status).toBe(200);
  const authorization = authorizationOf(answer.body);
  const { body } = await realm.spectator.get('/users/me/subscriptions', {}, { authorization });
  return body.subscriptions.map((subscription: Json) => subscription.stream_id).sort((a: number, b: number) => a - b);
}

test('a link of a demoted owner does not grant a role above the new role of its creator', async () => {
  const second = await realm.person({ role: 'owner' });
  const keys = [await link(second, { invite_as: 100 }), await link(second, { invite_as: 200 })] as const;
  await setRole(second, 300);
  await permit('create_multiuse_invite_group', 'role:members');
  for (const key of keys) {
    expect(refused(await join(key))).toEqual(badRequest);
    const form = { email: `page${++count}@natter.example`, full_name: `Page ${count}`, password: 'a long password' };
    expect((await realm.spectator.patiently('POST', `//join/${key}`, form)).status).toBe(400);
  }
  const { members } = await realm.owner.ok('GET', '/users');
  expect(members.filter((user: Json) => user.role <= 200).length).toBe(2);
  // A right that the inviter regains is granted again.
  await setRole(second, 200);
  expect(refused(await join(keys[0]))).toEqual(badRequest);
  expect((await join(keys[1])).status).toBe(200);
});

test('a link does not create accounts after its creator loses the right to invite', async () => {
  await permit('create_multiuse_invite_group', 'role:members');
  const key = await link(realm.member);
  expect((await join(key)).status).toBe(200);
  await permit('create_multiuse_invite_group', 'role:administrators');
  expect(refused(await join(key))).toEqual(badRequest);
  await permit('create_multiuse_invite_group', 'role:members');
  await setRole(realm.member, 600);
  expect(refused(await join(key))).toEqual(badRequest);
});

test('a right to invite that a group grants ends with the membership', async () => {
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'hosts',
    description: '',
    members: [realm.member.user_id],
  });
  await realm.owner.ok('PATCH', '/realm', { create_multiuse_invite_group: { new: group_id } });
  const key = await link(realm.member);
  expect((await join(key)).status).toBe(200);
  await realm.owner.ok('POST', `/user_groups/${group_id}/members`, { delete: [realm.member.user_id] });
  expect(refused(await join(key))).toEqual(badRequest);
});

test('a link does not subscribe to a channel that became private if its creator may not add users', async () => {
  const [opened, kept] = [await makeChannel(realm.owner, 'opened'), await makeChannel(realm.owner, 'kept')];
  const key = await link(realm.administrator, { stream_ids: [opened, kept] });
  expect(await channelsOf(await join(key))).toEqual([opened, kept]);
  await realm.owner.ok('PATCH', `/streams/${opened}`, { is_private: true, history_public_to_subscribers: false });
  expect(await channelsOf(await join(key))).toEqual([kept]);
  // Permits subscribers to add others.
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'opened' }],
    principals: [realm.administrator.user_id],
  });
  expect(await channelsOf(await join(key))).toEqual([opened, kept]);
});

test('a link does not subscribe to a channel after its creator loses the right to add users to it', async () => {
  await permit('create_multiuse_invite_group', 'role:members');
  const open = await makeChannel(realm.owner, 'open');
  const closed = await makeChannel(realm.owner, 'closed', { invite_only: true });
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'open' }, { name: 'closed' }],
    principals: [realm.member.user_id],
  });
  const key = await link(realm.member, { stream_ids: [open, closed] });
  expect(await channelsOf(await join(key))).toEqual([open, closed]);
  await realm.member.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['closed'] });
  expect(await channelsOf(await join(key))).toEqual([open]);
  await permit('can_add_subscribers_group', 'role:administrators');
  expect(await channelsOf(await join(key))).toEqual([]);
});

test('a link does not add users to a group after its creator loses the right to add members', async () => {
  await permit('create_multiuse_invite_group', 'role:members');
  const make = async (name: string): Promise<number> =>
    (await realm.member.ok('POST', '/user_groups/create', { name, description: '', members: [] })).group_id;
  const [own, lost] = [await make('own'), await make('lost')];
  const key = await link(realm.member, { group_ids: [own, lost] });
  await realm.owner.ok('PATCH', `/user_groups/${lost}`, {
    can_manage_group: { new: { direct_members: [realm.owner.user_id], direct_subgroups: [] } },
    can_add_members_group: { new: { direct_members: [realm.owner.user_id], direct_subgroups: [] } },
  });
  const { body } = await join(key);
  expect((await realm.owner.ok('GET', `/user_groups/${own}/members`)).members).toContain(body.user_id);
  expect((await realm.owner.ok('GET', `/user_groups/${lost}/members`)).members).not.toContain(body.user_id);
});

test('a link of an owner does not create owners after a concurrent demotion of the owner', async () => {
  const queue = await realm.owner.queue({ event_types: ['realm_user'] });
  for (let round = 0; round < 8; round++) {
    const second = await realm.person({ role: 'owner' });
    const key = await link(second, { invite_as: 100 });
    const [, ...joined] = await Promise.all([setRole(second, 400), join(key), join(key), join(key)]);
    const made = joined.filter(({ status }) => status === 200).map(({ body }) => body.user_id);
    for (const answer of joined) if (answer.status !== 200) expect(refused(answer)).toEqual(badRequest);
    let isDemoted = false;
    const after: number[] = [];
    const seen = new Set<number>();
    await queue.next((event) => {
      if (event.op === 'update' && event.person.user_id === second.user_id && event.person.role === 400)
        isDemoted = true;
      if (event.op === 'add' && made.includes(event.person.user_id)) {
        seen.add(event.person.user_id);
        if (isDemoted) after.push(event.person.user_id);
      }
      return isDemoted && seen.size === made.length;
    });
    expect(after).toEqual([]);
  }
});

test('joining by a link requires a mail if domains are restricted or invite_links_verify_email is set', async () => {
  for (const setting of ['invite_links_verify_email', 'emails_restricted_to_domains']) {
    const key = await link(realm.owner);
    await realm.owner.ok('POST', '/realm/domains', {
      domain: `${setting.replaceAll('_', '-')}.example`,
      allow_subdomains: false,
    });
    await realm.owner.ok('PATCH', '/realm', { [setting]: true });
    const email = `claimed@${setting.replaceAll('_', '-')}.example`;
    const answer = await join(key, { email });
    expect([...refused(answer), answer.body.is_mail_sent]).toEqual([...badRequest, true]);
    expect(answer.body).not.toHaveProperty('api_key');
    expect((await realm.spectator.get(`//join/${key}`)).body).not.toContain('name="password"');
    const page = await realm.spectator.patiently('POST', `//join/${key}`, {
      email,
      full_name: 'Claimed',
      password: 'a long password',
    });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('Look into your mail')]);
    // The same if there is an account.
    await realm.owner.ok('PATCH', '/realm', { [setting]: false });
    const known = `known@${setting.replaceAll('_', '-')}.example`;
    expect((await join(await link(realm.owner), { email: known })).status).toBe(200);
    await realm.owner.ok('PATCH', '/realm', { [setting]: true });
    expect((await join(key, { email: known })).body).toEqual(answer.body);
    expect((await realm.owner.ok('GET', '/users')).members.map((user: Json) => user.delivery_email)).not.toContain(
      email,
    );
    // Mailed links are not shown to anyone in the list.
    expect((await realm.owner.ok('GET', '/invites')).invites.every((invite: Json) => invite.is_multiuse)).toBe(true);
    await realm.owner.ok('PATCH', '/realm', { [setting]: false });
  }
});

test('joining is rejected for an invalid or reserved address and for another spelling of a used one', async () => {
  const key = await link(realm.owner);
  const bot = await realm.owner.ok('POST', '/bots', { full_name: 'Helper', short_name: 'helper' });
  const { members } = await realm.owner.ok('GET', '/users');
  const botEmail = members.find((user: Json) => user.user_id === bot.user_id).email;
  for (const email of [
    realm.member.email.toUpperCase(),
    ` ${realm.member.email}`,
    `${realm.member.email}\t`,
    botEmail,
    `user${realm.member.user_id}@${realm.host}`,
    `USER${realm.member.user_id}@${realm.host}`,
    `notification-bot@${realm.host}`,
    'ünïcode@natter.example',
    'two@at@natter.example',
    'a@natter.example\r\nBcc: all@natter.example',
    `<${realm.member.email}>`,
  ])
    expect(refused(await join(key, { email })), email).toEqual(badRequest);
});

test('GET and HEAD of the page of a link do not create an account', async () => {
  const key = await link(realm.owner);
  const form = { email: 'prefetched@natter.example', full_name: 'Prefetched', password: 'a long password' };
  for (const path of [`//join/${key}`, `//accounts/do_confirm/${key}`])
    for (const method of ['GET', 'HEAD']) expect((await realm.spectator.send(method, path, form)).status).toBe(200);
  const { members } = await realm.owner.ok('GET', '/users');
  expect(JSON.stringify(members)).not.toContain('prefetched');
});

test('an administrator does not see a link of another user that grants the owner role, a channel or a group', async () => {
  await permit('create_multiuse_invite_group', 'role:members');
  const channel = await makeChannel(realm.member, 'vault', { invite_only: true });
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'guild',
    description: '',
    members: [],
  });
  const open = await link(realm.member);
  const hidden = [
    await link(realm.owner, { invite_as: 100 }),
    await link(realm.member, { stream_ids: [channel] }),
    await link(realm.owner, { group_ids: [group_id] }),
  ];
  const keysSeenBy = async (client: Client): Promise<string[]> =>
    (await client.ok('GET', '/invites')).invites.flatMap(({ link_url }: Json) => link_url?.split('/').at(-2) ?? []);
  expect(await keysSeenBy(realm.administrator)).toEqual([open]);
  expect((await realm.administrator.ok('GET', '/invites')).invites).toHaveLength(4);
  expect(await keysSeenBy(realm.owner)).toEqual([open, hidden[0], hidden[2]]);
  expect(await keysSeenBy(realm.member)).toEqual([open, hidden[1]]);
});
