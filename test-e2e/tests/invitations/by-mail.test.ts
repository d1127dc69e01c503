import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];
const invites = async (): Promise<Json[]> => (await realm.owner.ok('GET', '/invites')).invites;

test('POST /invites invites each address, separated by commas or lines, and rejects guests', async () => {
  const form = { invitee_emails: 'a@natter.example, Bea <b@natter.example>\nc@natter.example', stream_ids: [] };
  await realm.member.ok('POST', '/invites', form);
  const found = await invites();
  expect(found.map((invite) => invite.email)).toEqual(['a@natter.example', 'b@natter.example', 'c@natter.example']);
  expect(found[0]).toMatchObject({
    is_multiuse: false,
    invited_as: 400,
    invited_by_user_id: realm.member.user_id,
    notify_referrer_on_join: true,
  });
  expect(found[0]).not.toHaveProperty('link_url');
  expect(refused(await realm.guest.post('/invites', form))).toEqual(badRequest);
});

test('an invalid address returns INVITATION_FAILED, and no invitation is sent', async () => {
  const { status, body } = await realm.owner.post('/invites', {
    invitee_emails: 'a@natter.example,nowhere',
    stream_ids: [],
  });
  expect([status, body.code]).toEqual([400, 'INVITATION_FAILED']);
  expect(body.errors).toEqual([['nowhere', expect.any(String), false]]);
  expect([body.sent_invitations, body.daily_limit_reached, body.license_limit_reached]).toEqual([false, false, false]);
  expect(await invites()).toEqual([]);
});

test('an address with an account is listed in INVITATION_FAILED, and the other addresses are invited', async () => {
  const { body } = await realm.owner.post('/invites', {
    invitee_emails: `${realm.member.email},a@natter.example`,
    stream_ids: [],
  });
  expect([body.code, body.sent_invitations]).toEqual(['INVITATION_FAILED', true]);
  expect(body.errors).toEqual([[realm.member.email, expect.any(String), false]]);
  expect((await invites()).map((invite) => invite.email)).toEqual(['a@natter.example']);
  const again = await realm.owner.post('/invites', { invitee_emails: realm.member.email, stream_ids: [] });
  expect([again.body.code, again.body.sent_invitations]).toEqual(['INVITATION_FAILED', false]);
});

test('a missing address, missing stream_ids and a role above that of the inviter are rejected', async () => {
  expect(refused(await realm.owner.post('/invites', { invitee_emails: ' ', stream_ids: [] }))).toEqual(badRequest);
  expect(refused(await realm.owner.post('/invites', { invitee_emails: 'a@natter.example' }))).toEqual([
    400,
    'REQUEST_VARIABLE_MISSING',
  ]);
  const form = { invitee_emails: 'a@natter.example', stream_ids: [], invite_as: 200 };
  expect(refused(await realm.member.post('/invites', form))).toEqual(badRequest);
});

test('a user who may no longer invite can revoke their invitation, but not resend it', async () => {
  const { owner, member } = realm;
  await member.ok('POST', '/invites', { invitee_emails: 'a@natter.example', stream_ids: [] });
  const [{ id }] = (await invites()) as [Json];
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const administrators = user_groups.find((group: Json) => group.name === 'role:administrators').id;
  await owner.ok('PATCH', '/realm', { can_invite_users_group: { new: administrators } });
  expect(refused(await member.post(`/invites/${id}/resend`))).toEqual(badRequest);
  await realm.administrator.ok('POST', `/invites/${id}/resend`);
  await member.ok('DELETE', `/invites/${id}`);
});

test('only its creator and administrators can resend or revoke an invitation by mail', async () => {
  await realm.member.ok('POST', '/invites', { invitee_emails: 'a@natter.example', stream_ids: [] });
  const [{ id }] = (await invites()) as [Json];
  expect(refused(await realm.member2.post(`/invites/${id}/resend`))).toEqual(badRequest);
  await realm.administrator.ok('POST', `/invites/${id}/resend`);
  expect(refused(await realm.member2.delete(`/invites/${id}`))).toEqual(badRequest);
  await realm.member.ok('DELETE', `/invites/${id}`);
  expect(refused(await realm.member.post(`/invites/${id}/resend`))).toEqual(badRequest);
  expect(await invites()).toEqual([]);
});

test('a new account ends all invitations for its address, and each inviter learns it', async () => {
  const { owner, member, member2, spectator } = realm;
  const [first, second] = ['First@natter.example', 'second@natter.example'];
  for (const inviter of [member, member2])
    await inviter.ok('POST', '/invites', { invitee_emails: `${first},${second},third@natter.example`, stream_ids: [] });
  const queues = await Promise.all(
    [member, member2].map((inviter) => inviter.queue({ event_types: ['invites_changed'] })),
  );
  const { invite_link } = await owner.ok('POST', '/invites/multiuse');
  const account = { full_name: 'Newcomer', password: 'a long password' };
  const key = invite_link.split('/').at(-2);
  await spectator.ok('POST', '/join', { ...account, key, email: first.toLowerCase() });
  for (const queue of queues) await queue.next(() => true);
  const open = async (): Promise<Json[]> => (await invites()).flatMap(({ email }) => email ?? []);
  expect(await open()).toEqual([second, 'third@natter.example', second, 'third@natter.example']);
  const { user_id } = await owner.ok('POST', '/users', { ...account, full_name: 'Created', email: second });
  for (const queue of queues) await queue.next(() => true);
  expect(await open()).toEqual(['third@natter.example', 'third@natter.example']);
  await owner.ok('PATCH', `/users/${user_id}`, { new_email: 'third@natter.example' });
  for (const queue of queues) await queue.next(() => true);
  expect(await open()).toEqual([]);
});
