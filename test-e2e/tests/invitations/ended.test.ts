import { connected, countOf, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

const form = { invitee_emails: 'new@natter.example', stream_ids: [] };

test('revoked invitations of the last day still count against the limit', async () => {
  const realm = await openRealm();
  const { id } = (await realm.owner.ok('POST', '/invites', form).then(() => realm.owner.ok('GET', '/invites')))
    .invites[0];
  await realm.owner.ok('DELETE', `/invites/${id}`);
  await connected((client) =>
    client.query(`INSERT INTO users.invitation (realm_id, key, inviter_id, invite_as, channel_ids, group_ids, default_channels, is_closed)
      SELECT realm_id, key || n, inviter_id, invite_as, '{}', '{}', false, true FROM users.invitation, generate_series(1, 19999) n WHERE id = ${id}`),
  );
  expect(await countOf('users.invitation', `realm_id = ${realm.id} AND is_closed`)).toBe(20_000);
  const { status, body } = await realm.owner.post('/invites/multiuse');
  expect([status, body.msg]).toEqual([400, 'Too many open or recent invitations (limit: 20000)']);
});
