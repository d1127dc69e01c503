import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';

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

test('a link that is changed gives what it says from then on; what is not named stays', async () => {
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

test('a link is changed by its maker and by administrators, and gives no more than they may give', async () => {
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
