import { type Answer, Client, connected, copyRow, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { uploadTo } from '../upload.ts';

/** Objects that members add to the realm, and how many one member may add. */
const shared = {
  channels: {
    limit: 6_250,
    what: 'channels',
    table: 'channels.channel',
    by: 'creator_id',
    add: (who: Client, index: number) =>
      who.post('/users/me/subscriptions', { subscriptions: [{ name: `channel ${who.user_id} ${index}` }] }),
    differing: { name: "'copy ' || n" },
  },
  groups: {
    limit: 1_250,
    what: 'user groups',
    table: 'users.user_group',
    by: 'creator_id',
    add: (who: Client, index: number) =>
      who.post('/user_groups/create', { name: `group ${who.user_id} ${index}`, description: '', members: [] }),
    differing: { name: "'copy ' || n" },
  },
  emoji: {
    limit: 1_250,
    what: 'custom emoji',
    table: 'users.realm_emoji',
    by: 'author_id',
    add: (who: Client, index: number) => uploadTo(who, `/realm/emoji/emoji${who.user_id}_${index}`),
    differing: { name: "'copy' || n" },
  },
} as const;

async function botOf(realm: Realm, owner: Client): Promise<Client> {
  const [full_name, short_name] = ['Filler', 'filler'];
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name, short_name });
  return new Client(owner, { user_id, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const refusalOf = ({ status, body }: Answer) => [status, body.code, body.msg];

test.each(Object.keys(shared) as (keyof typeof shared)[])(
  'a member and their bots can use only a part of the limit of %s, and other users are not affected',
  async (name) => {
    const { limit, what, table, by, add, differing } = shared[name];
    const realm = await openRealm();
    const { member, member2, administrator } = realm;
    expect((await add(member, 0)).status).toBe(200);
    const where = `realm_id = ${realm.id} AND ${by} = ${member.user_id}`;
    await copyRow({ table, where }, limit - 2, differing);
    expect((await add(member, 1)).status).toBe(200);
    const full = [400, 'BAD_REQUEST', `Too many ${what} of one user (limit: ${limit})`];
    expect(refusalOf(await add(member, 2))).toEqual(full);
    const bot = await botOf(realm, member);
    expect(refusalOf(await add(bot, 3))).toEqual(full);
    expect((await add(member2, 4)).status).toBe(200);
    expect((await add(administrator, 5)).status).toBe(200);
  },
);

test.each(Object.keys(shared) as (keyof typeof shared)[])(
  'the %s of a bot count for the member who created it, and not for the user who receives it',
  async (name) => {
    const { limit, what, table, by, add, differing } = shared[name];
    const realm = await openRealm();
    const { member, member2, administrator } = realm;
    const bot = await botOf(realm, member);
    expect((await add(bot, 0)).status).toBe(200);
    await copyRow({ table, where: `realm_id = ${realm.id} AND ${by} = ${bot.user_id}` }, limit - 1, differing);
    const full = [400, 'BAD_REQUEST', `Too many ${what} of one user (limit: ${limit})`];
    expect(refusalOf(await add(member, 1))).toEqual(full);
    await administrator.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: member2.user_id });
    expect(refusalOf(await add(member, 2))).toEqual(full);
    expect((await add(member2, 3)).status).toBe(200);
  },
);

test('pictures of emoji, even removed ones, and of bots count towards the limit of one user', async () => {
  const realm = await openRealm();
  const { member, member2, administrator } = realm;
  expect((await uploadTo(member, '/realm/emoji/removed_emoji')).status).toBe(200);
  expect((await member.delete('/realm/emoji/removed_emoji')).status).toBe(200);
  const fill = (table: string, where: string, mib: number) =>
    connected((client) =>
      client.query(`UPDATE ${table} SET picture = decode(repeat('00', ${mib * 1024 * 1024}), 'hex') WHERE ${where}`),
    );
  await fill('users.realm_emoji', `realm_id = ${realm.id}`, 32);
  const full = [400, 'BAD_REQUEST', 'Too much data in custom emoji of one user (limit: 32768 KiB)'];
  expect(refusalOf(await uploadTo(member, '/realm/emoji/other_emoji'))).toEqual(full);
  for (const who of [member2, administrator])
    expect((await uploadTo(who, `/realm/emoji/of${who.user_id}`)).status).toBe(200);
  const bot = await botOf(realm, member);
  expect((await uploadTo(bot, '/users/me/avatar')).status).toBe(200);
  await fill('users.avatar', `user_id = ${bot.user_id}`, 64);
  const noRoom = [400, 'BAD_REQUEST', 'Too much data in pictures of one user and their bots (limit: 65536 KiB)'];
  expect(refusalOf(await uploadTo(member, '/users/me/avatar'))).toEqual(noRoom);
  expect((await uploadTo(member2, '/users/me/avatar')).status).toBe(200);
});

test('long descriptions of new and changed channels have a limit for each member', async () => {
  const { member, administrator, member2 } = await openRealm();
  // 25 KB of HTML.
  const description = ':a: '.repeat(250);
  const named = (count: number, name: string, text: string) =>
    Array.from({ length: count }, (_, index) => ({ name: `${name} ${index}`, description: text }));
  const create = (who: Client, subscriptions: object[]) => who.post('/users/me/subscriptions', { subscriptions });
  const full = [400, 'BAD_REQUEST', 'Too much text in long descriptions of channels of one user (limit: 512 KiB)'];
  expect(refusalOf(await create(member, named(30, 'many', description)))).toEqual(full);
  let count = 0;
  while ((await create(member, named(1, `one ${count}`, description))).status === 200) count++;
  expect(count).toBeGreaterThan(15);
  expect((await create(member, named(1, 'short', 'short'))).status).toBe(200);
  const { stream_id } = await member.ok('GET', '/get_stream_id', { stream: 'short 0' });
  expect(refusalOf(await member.patch(`/streams/${stream_id}`, { description }))).toEqual(full);
  expect((await member.patch(`/streams/${stream_id}`, { description: 'other' })).status).toBe(200);
  for (const who of [member2, administrator])
    expect((await create(who, named(1, `of ${who.user_id}`, description))).status).toBe(200);
});

test('the members of all groups of one user have a limit', async () => {
  const realm = await openRealm();
  const { member, member2, owner } = realm;
  const add = (who: Client, index: number) =>
    who.post('/user_groups/create', { name: `group ${index}`, description: '', members: [owner.user_id] });
  const { group_id } = (await add(member, 0)).body;
  await copyRow({ table: 'users.group_member', where: `group_id = ${group_id}` }, 62_498, { user_id: '-n' });
  expect((await add(member, 1)).status).toBe(200);
  const full = [400, 'BAD_REQUEST', 'Too many members of user groups of one user (limit: 62500)'];
  expect(refusalOf(await add(member, 2))).toEqual(full);
  const further = { add: [member.user_id] };
  expect(refusalOf(await member.post(`/user_groups/${group_id}/members`, further))).toEqual(full);
  expect((await add(member2, 3)).status).toBe(200);
});

test('people who ask for invitations through a link use up no invitations of the member who made it', async () => {
  const realm = await openRealm();
  const { owner, member } = realm;
  const create_multiuse_invite_group = { new: { direct_members: [member.user_id], direct_subgroups: [] } };
  await owner.ok('PATCH', '/realm', { create_multiuse_invite_group, invite_links_verify_email: true });
  const { invite_link } = await member.ok('POST', '/invites/multiuse');
  const form = { email: 'asks@natter.example', full_name: 'Asks', password: 'a long password' };
  const asked = await realm.spectator.post('/join', { key: invite_link.split('/').at(-2), ...form });
  expect(asked.body.is_mail_sent).toBe(true);
  const rows = (condition: string) => ({
    table: 'users.invitation',
    where: `realm_id = ${realm.id} AND link_id ${condition}`,
  });
  await copyRow(rows('IS NOT NULL'), 2_500, { key: "'asked ' || n || ' of ' || (t.realm_id)" });
  const invite = (to: string) => member.post('/invites', { invitee_emails: `${to}@natter.example`, stream_ids: [] });
  expect((await invite('one')).status).toBe(200);
  await copyRow(rows('IS NULL'), 2_498, { key: "'made ' || n || ' of ' || (t.realm_id)" });
  const full = [400, 'BAD_REQUEST', 'Too many open or recent invitations of one user (limit: 2500)'];
  expect(refusalOf(await invite('two'))).toEqual(full);
});

/** Additions of a user to messages of others. */
const additions = {
  reactions: {
    limit: 625,
    what: 'reactions to a message',
    table: 'messaging.reaction',
    by: 'user_id',
    add: (who: Client, id: number, index: number) =>
      who.post(`/messages/${id}/reactions`, { emoji_name: ['smile', 'heart', 'tada', 'star'][index] }),
    differing: { emoji_code: "'copy' || n" },
  },
  submessages: {
    limit: 1_250,
    what: 'submessages of a message',
    table: 'messaging.submessage',
    by: 'sender_id',
    add: (who: Client, message_id: number, index: number) => {
      const vote = { type: 'vote', key: `canned,${index}`, vote: 1 };
      return who.post('/submessage', { message_id, msg_type: 'widget', content: JSON.stringify(vote) });
    },
    differing: {},
  },
} as const;

test.each(Object.keys(additions) as (keyof typeof additions)[])(
  'a member and their bots can use only a part of the limit of %s, and other users are not affected',
  async (name) => {
    const { limit, what, table, by, add, differing } = additions[name];
    const realm = await openRealm();
    const { owner, member, member2, administrator } = realm;
    const bot = await botOf(realm, member);
    const to = [member, member2, administrator, bot].map(({ user_id }) => user_id);
    const { id } = await owner.ok('POST', '/messages', { type: 'direct', to, content: '/poll Lunch?' });
    expect((await add(member, id, 0)).status).toBe(200);
    expect((await add(bot, id, 0)).status).toBe(200);
    const rows = (who: Client) => ({ table, where: `realm_id = ${realm.id} AND ${by} = ${who.user_id}` });
    await copyRow(rows(bot), limit - 3, differing);
    expect((await add(member, id, 1)).status).toBe(200);
    const full = [400, 'BAD_REQUEST', `Too many ${what} of one user (limit: ${limit})`];
    expect(refusalOf(await add(member, id, 2))).toEqual(full);
    expect(refusalOf(await add(bot, id, 2))).toEqual(full);
    await administrator.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: member2.user_id });
    expect(refusalOf(await add(member, id, 2))).toEqual(full);
    for (const who of [owner, member2, administrator]) expect((await add(who, id, 2)).status).toBe(200);
  },
);

test('only the author can fill a poll with text', async () => {
  const { owner, member, member2 } = await openRealm();
  const to = [member.user_id, member2.user_id];
  const { id: message_id } = await owner.ok('POST', '/messages', { type: 'direct', to, content: '/poll Lunch?' });
  const option = 'x'.repeat(9_900);
  let count = 0;
  const add = (who: Client) =>
    who.post('/submessage', {
      message_id,
      msg_type: 'widget',
      content: JSON.stringify({ type: 'new_option', option, idx: ++count }),
    });
  while (count < 13) expect((await add(member)).status).toBe(200);
  const full = 'Too much text in submessages of a message of one user (limit: 128 KiB)';
  expect(refusalOf(await add(member))).toEqual([400, 'BAD_REQUEST', full]);
  for (count = 20; count < 40; ) expect((await add(owner)).status).toBe(200);
  expect((await add(member2)).status).toBe(200);
});
