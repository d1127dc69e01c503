import { type Client, connected, copyRow, countOf, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a user cannot prevent their deactivation with many bots in many groups', async () => {
  const realm = await openRealm();
  const { owner, member } = realm;
  const bot = await member.ok('POST', '/bots', { full_name: 'First', short_name: 'first' });
  const form = { name: 'first', description: '', members: [bot.user_id] };
  const { group_id } = await member.ok('POST', '/user_groups/create', form);
  const [bots, groups] = [300, 100];
  await copyRow({ table: 'users.account', where: `id = ${bot.user_id}` }, bots - 1, {
    email: "'copy' || n || t.email",
    full_name: "'Copy ' || n",
  });
  await copyRow({ table: 'users.user_group', where: `id = ${group_id}` }, groups - 1, { name: "'copy ' || n" });
  const ownGroups = `SELECT id FROM users.user_group WHERE realm_id = ${realm.id} AND NOT is_system`;
  // 30,000 memberships: more than the 25,000 events of a unit.
  await connected((client) =>
    client.query(`INSERT INTO users.group_member (group_id, user_id)
      SELECT g.id, a.id FROM (${ownGroups}) g, users.account a WHERE a.bot_owner_id = ${member.user_id} ON CONFLICT DO NOTHING`),
  );
  expect(await countOf('users.group_member', `group_id IN (${ownGroups})`)).toBe(bots * groups);

  const queue = await owner.queue({ event_types: ['user_group'] });
  const { status, body } = await owner.patiently('DELETE', `/users/${member.user_id}`);
  expect([status, body.msg]).toEqual([200, '']);
  expect(await countOf('users.account', `bot_owner_id = ${member.user_id} AND is_active`)).toBe(0);
  const event = await queue.next(({ op, group_id: id }) => op === 'remove_members' && id === group_id);
  expect(event.user_ids).toHaveLength(bots);
});

test('a bot that is given to another user counts only for the member who created it', async () => {
  const { member, member2 } = await openRealm();
  const add = (who: Client, name: string) => who.post('/bots', { full_name: name, short_name: name });
  expect((await add(member, 'first')).status).toBe(200);
  await copyRow({ table: 'users.account', where: `bot_owner_id = ${member.user_id}` }, 1_998, {
    email: "'copy' || n || t.email",
    full_name: "'Copy ' || n",
    bot_owner_id: `${member2.user_id}`,
    joined_at: "now() - interval '2 days'",
    is_active: 'false',
  });
  const answers = [await add(member, 'last'), await add(member, 'more'), await add(member2, 'other')];
  const text = 'Too many bots, including deactivated ones (limit: 2000)';
  expect(answers.map(({ body }) => body.msg)).toEqual(['', text, '']);
});

test('a user cannot take over more bots than a user may have', async () => {
  const { administrator, member, member2 } = await openRealm();
  const add = (who: Client, name: string) => who.ok('POST', '/bots', { full_name: name, short_name: name });
  const [own, given] = [await add(member2, 'own'), await add(member, 'given')];
  await copyRow({ table: 'users.account', where: `id = ${own.user_id}` }, 499, {
    email: "'copy' || n || t.email",
    full_name: "'Copy ' || n",
  });
  const give = { bot_owner_id: member2.user_id };
  const { status, body } = await administrator.patch(`/bots/${given.user_id}`, give);
  expect([status, body.msg]).toEqual([400, 'Too many bots (limit: 500)']);
  await administrator.ok('DELETE', `/bots/${own.user_id}`);
  await administrator.ok('PATCH', `/bots/${given.user_id}`, give);
});

test('a user can become an administrator and a member again in an organization with 26,000 bots', async () => {
  const realm = await openRealm();
  const { owner, member, member2 } = realm;
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'First', short_name: 'first' });
  await copyRow({ table: 'users.account', where: `id = ${user_id}` }, 26_000, {
    email: "'copy' || n || t.email",
    full_name: "'Copy ' || n",
  });
  await connected((client) =>
    client.query(`INSERT INTO users.bot (user_id, sealed_key, services, default_all_public_streams)
      SELECT a.id, b.sealed_key, b.services, false FROM users.account a, users.bot b
      WHERE a.bot_owner_id = ${member.user_id} AND b.user_id = ${user_id} ON CONFLICT DO NOTHING`),
  );
  for (const role of [200, 400]) {
    const { status, body } = await owner.patch(`/users/${member2.user_id}`, { role });
    expect([role, status, body.msg]).toEqual([role, 200, '']);
  }
});

test('all bots of a demoted user are demoted together, even deactivated ones', async () => {
  const { owner, administrator } = await openRealm();
  const ids: number[] = [];
  for (const name of ['one', 'two', 'three']) {
    const { user_id } = await administrator.ok('POST', '/bots', { full_name: name, short_name: name });
    await owner.ok('PATCH', `/bots/${user_id}`, { role: 200 });
    ids.push(user_id);
  }
  await owner.ok('DELETE', `/bots/${ids[2]}`);
  const queue = await owner.queue({ event_types: ['user_group'] });
  await owner.ok('PATCH', `/users/${administrator.user_id}`, { role: 300 });
  await queue.next(({ op, user_ids }: Json) => op === 'add_members' && user_ids.includes(ids[1]));
  const told = queue.seen.filter(({ user_ids }) => !user_ids.includes(administrator.user_id));
  expect(told.map(({ op, user_ids }) => [op, user_ids])).toEqual([
    ['remove_members', ids.slice(0, 2)],
    ['add_members', ids.slice(0, 2)],
  ]);
  const { members } = await owner.ok('GET', '/users', { user_ids: ids });
  expect(members.map(({ role }: Json) => role)).toEqual([300, 300, 300]);
});
