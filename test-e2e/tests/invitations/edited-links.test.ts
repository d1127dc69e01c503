import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';
import { mailedKey } from './mailed-key.ts';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];
const invites = async (client: Client): Promise<Json[]> => (await client.ok('GET', '/invites')).invites;
const link = async (client: Client, form: Json = {}): Promise<{ key: string; invite: Json }> => {
  const { invite_link } = await client.ok('POST', '/invites/multiuse', form);
  const invite = (await invites(client)).find((one) => one.link_url === invite_link);
  if (!invite) throw new Error('The list has no such link');
  return { key: invite_link.split('/').at(-2), invite };
};

test('an edited link grants the new values, and other values remain', async () => {
  const { owner, administrator, spectator } = realm;
  const { key, invite } = await link(owner, { invite_as: 300 });
  const queue = await owner.queue({ event_types: ['invites_changed'] });
  await administrator.ok('PATCH', `/invites/multiuse/${invite.id}`, { invite_as: 600 });
  await queue.next(() => true);
  expect(await invites(owner)).toEqual([{ ...invite, invited_as: 600 }]);
  const form = { key, email: 'new@natter.example', full_name: 'New One', password: 'a long password' };
  const { user_id } = await spectator.ok('POST', '/join', form);
  expect((await owner.ok('GET', `/users/${user_id}`)).user.role).toBe(600);
  await owner.ok('PATCH', `/invites/multiuse/${invite.id}`, { invite_expires_in_minutes: null });
  expect(await invites(owner)).toEqual([{ ...invite, invited_as: 600, expiry_date: null }]);
});

test('only its creator and administrators can edit a link, within their own permissions', async () => {
  const { owner, administrator, member, member2 } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find((group: Json) => group.name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { create_multiuse_invite_group: { new: members } });
  const { invite } = await link(member);
  const change = (who: Client, id: number, form: Json) => who.patch(`/invites/multiuse/${id}`, form);
  expect(refused(await change(member2, invite.id, { invite_as: 600 }))).toEqual(badRequest);
  expect(refused(await change(member, invite.id, { invite_as: 200 }))).toEqual(badRequest);
  expect((await change(member, invite.id, { invite_as: 600 })).status).toBe(200);
  const forOwners = await link(owner, { invite_as: 100 });
  expect(refused(await change(administrator, forOwners.invite.id, { invite_as: 600 }))).toEqual(badRequest);
  await owner.ok('DELETE', `/invites/multiuse/${invite.id}`);
  expect(refused(await change(member, invite.id, { invite_as: 400 }))).toEqual(badRequest);
});

test('an edit beyond the permissions of the creator of the link is rejected, and the link still works', async () => {
  const { owner, administrator, moderator, spectator } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const idOf = (name: string): number => user_groups.find((group: Json) => group.name === name).id;
  const permit = (group: string) => owner.ok('PATCH', '/realm', { create_multiuse_invite_group: { new: idOf(group) } });
  await permit('role:moderators');
  const { key, invite } = await link(moderator);
  const group = { name: 'crew', description: '', members: [] };
  const { group_id } = await administrator.ok('POST', '/user_groups/create', {
    ...group,
    can_manage_group: { direct_members: [administrator.user_id], direct_subgroups: [] },
    can_add_members_group: { direct_members: [administrator.user_id], direct_subgroups: [] },
  });
  const vault = { name: 'vault', subscribers: [administrator.user_id], invite_only: true };
  const { id: channel } = await administrator.ok('POST', '/channels/create', vault);
  const change = (form: Json) => administrator.patch(`/invites/multiuse/${invite.id}`, form);
  const notGranted = [400, 'The user who created this link may not grant this.'];
  for (const form of [
    { invite_as: 200 },
    { group_ids: [group_id] },
    { stream_ids: [channel] },
    { welcome_message_custom_text: 'Hello' },
    { welcome_message_custom_text: '' },
    { invite_as: 600, group_ids: [group_id] },
  ]) {
    const { status, body } = await change(form);
    expect([form, status, body.msg]).toEqual([form, ...notGranted]);
  }
  expect(await invites(owner)).toEqual([{ ...invite, link_url: expect.any(String) }]);
  expect((await change({ invite_as: 300, welcome_message_custom_text: null })).status).toBe(200);
  const form = { email: 'late@natter.example', full_name: 'Late One', password: 'a long password' };
  const { user_id } = await spectator.ok('POST', '/join', { ...form, key });
  expect((await owner.ok('GET', `/users/${user_id}`)).user.role).toBe(300);
  // A link that creates no account is not extended.
  await permit('role:administrators');
  const { status, body } = await change({ invite_expires_in_minutes: 60 });
  expect([status, body.msg]).toEqual(notGranted);
});

test('an invitation that a link mailed before an edit grants what the link grants after it', async () => {
  const { owner, spectator } = realm;
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'crew', description: '', members: [] });
  const { key, invite } = await link(owner, { invite_as: 200, group_ids: [group_id] });
  await owner.ok('PATCH', '/realm', { invite_links_verify_email: true });
  const email = `verified${Math.random()}@natter.example`;
  const form = { full_name: 'Verified', password: 'a long password' };
  expect((await spectator.post('/join', { ...form, key, email })).body.is_mail_sent).toBe(true);
  const mailed = await mailedKey(email);
  await owner.ok('PATCH', `/invites/multiuse/${invite.id}`, { invite_as: 400, group_ids: [] });
  const { user_id } = await spectator.ok('POST', '/join', { ...form, key: mailed });
  expect((await owner.ok('GET', `/users/${user_id}`)).user).toMatchObject({ role: 400, delivery_email: email });
  expect((await owner.ok('GET', `/user_groups/${group_id}/members`)).members).not.toContain(user_id);
});
