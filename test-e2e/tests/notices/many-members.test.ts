import { Client, connected, copyRow, countOf, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('adding more than 250 members to a group sends no direct messages, and a smaller change one to each member', async () => {
  const { id: realmId, owner, member, member2 } = await openRealm();
  const account = { table: 'users.account', where: `id = ${member.user_id}` };
  await copyRow(account, 250, { email: "'copy' || n || '@many.example'" });
  const { rows } = await connected((client) =>
    client.query<{ id: number }>(
      `SELECT id FROM users.account WHERE realm_id = ${realmId} AND email LIKE 'copy%' ORDER BY id`,
    ),
  );
  const copies = rows.map(({ id }) => id);
  const person = { table: 'messaging.person', where: `realm_id = ${realmId} AND user_id = ${member.user_id}` };
  await copyRow(person, copies.length, { user_id: `(ARRAY[${copies.join()}])[n]` });
  const told = (): Promise<number> =>
    countOf('messaging.scheduled_message', `realm_id = ${realmId} AND content LIKE '%added you to the group%'`);
  const members = [...copies, member.user_id];
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'all', description: '', members });
  // Events are handled in order.
  await owner.ok('POST', `/user_groups/${group_id}/members`, { add: [member2.user_id] });
  await expect.poll(told).toBe(1);
});

test('a user who caused too many direct messages, and their bots, cannot cause more for some time', async () => {
  const { id: realmId, owner, member, member2 } = await openRealm();
  const told = (): Promise<number> =>
    countOf('messaging.scheduled_message', `realm_id = ${realmId} AND content LIKE '%you to the %'`);
  const allow = (hours: number) =>
    connected((client) =>
      client.query(
        `INSERT INTO messaging.notice_allowance VALUES (${realmId}, ${owner.user_id}, now() + interval '${hours} hours')
        ON CONFLICT (realm_id, user_id) DO UPDATE SET used_until = excluded.used_until`,
      ),
    );
  await allow(2);
  const form = { name: 'few', description: '', members: [member.user_id] };
  const { group_id } = await owner.ok('POST', '/user_groups/create', form);
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name: 'Adder', short_name: 'adder' });
  const email = `adder-bot@${owner.host}`;
  const bot = new Client(owner, { user_id, api_key, email, full_name: 'Adder' });
  await owner.ok('POST', '/channels/create', { name: 'few', subscribers: [] });
  const subscription = { subscriptions: [{ name: 'few' }], principals: [member.user_id] };
  await bot.ok('POST', '/users/me/subscriptions', subscription);
  // A register waits until events have had their effect.
  await member.ok('POST', '/register');
  expect(await told()).toBe(0);
  await allow(0);
  await owner.ok('POST', `/user_groups/${group_id}/members`, { add: [member2.user_id] });
  await expect.poll(told).toBe(1);
});
