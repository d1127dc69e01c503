import { createDatabase } from '@natter/database';
import { connected, countOf, openRealm } from '@natter/testkit';
import { expect, inject, test } from 'vitest';
import { removeEndedInvitations } from '../../../services/users/src/invitations/invitation-sweep.ts';

const form = { invitee_emails: 'new@natter.example', stream_ids: [] };

test('invitations are deleted some days after they were closed or expired, a link after those that it made', async () => {
  const realm = await openRealm();
  for (let n = 0; n < 4; n++) await realm.owner.ok('POST', '/invites/multiuse');
  const { invites } = await realm.owner.ok('GET', '/invites');
  const [closed, recent, expired, open] = invites.map(({ id }: { id: number }) => id);
  for (const id of [closed, recent]) await realm.owner.ok('DELETE', `/invites/multiuse/${id}`);
  await connected(async (client) => {
    await client.query(`UPDATE users.invitation SET created_at = now() - interval '8 days' WHERE id = ANY($1)`, [
      [closed, expired, open],
    ]);
    await client.query(`UPDATE users.invitation SET expires_at = now() - interval '8 days' WHERE id = $1`, [expired]);
    await client.query(
      `INSERT INTO users.invitation (realm_id, key, email, inviter_id, invite_as, channel_ids, group_ids, default_channels, expires_at, link_id)
       SELECT realm_id, 'of ' || key, 'a@natter.example', inviter_id, invite_as, '{}', '{}', false, expires_at, id
       FROM users.invitation WHERE id = $1`,
      [expired],
    );
  });
  const database = createDatabase({
    url: inject('natterPostgresUrl'),
    maxConnections: 1,
    name: 'test',
    onError: () => undefined,
  });
  try {
    await removeEndedInvitations(database);
    await removeEndedInvitations(database);
  } finally {
    await database.close();
  }
  const { rows } = await connected((client) =>
    client.query(`SELECT id FROM users.invitation WHERE realm_id = ${realm.id} ORDER BY id`),
  );
  expect(rows.map(({ id }) => id)).toEqual([recent, open]);
});

test('invitations of the last day count also after they were revoked', async () => {
  const realm = await openRealm();
  const { id } = (await realm.owner.ok('POST', '/invites', form).then(() => realm.owner.ok('GET', '/invites'))).invites[0];
  await realm.owner.ok('DELETE', `/invites/${id}`);
  await connected((client) =>
    client.query(`INSERT INTO users.invitation (realm_id, key, inviter_id, invite_as, channel_ids, group_ids, default_channels, is_closed)
      SELECT realm_id, key || n, inviter_id, invite_as, '{}', '{}', false, true FROM users.invitation, generate_series(1, 19999) n WHERE id = ${id}`),
  );
  expect(await countOf('users.invitation', `realm_id = ${realm.id} AND is_closed`)).toBe(20_000);
  const { status, body } = await realm.owner.post('/invites/multiuse');
  expect([status, body.msg]).toEqual([400, 'Too many open or recent invitations (limit: 20000)']);
});
