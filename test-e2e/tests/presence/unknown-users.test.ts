import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let stranger: Client;
let placeholder: string;
beforeAll(async () => {
  realm = await openRealm();
  const { owner, guest, member, host } = realm;
  stranger = await realm.person();
  placeholder = `user${stranger.user_id}@${host}`;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  const principals = [guest.user_id, member.user_id];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'shared' }], principals });
});

/** Waits until the guest sees the member of the shared channel, and not the stranger. */
async function isLimited(): Promise<void> {
  const nameOf = async ({ user_id }: Client): Promise<string> =>
    (await realm.guest.ok('GET', '/users')).members.find((user: Json) => user.user_id === user_id).full_name;
  await expect.poll(() => nameOf(stranger)).toBe('Unknown user');
  await expect.poll(() => nameOf(realm.member)).toBe(realm.member.full_name);
}

/** Addresses of users with presence, as three requests return them. */
async function addressesFor(viewer: Client): Promise<string[][]> {
  const answers = [
    await viewer.ok('GET', '/realm/presence'),
    await viewer.ok('POST', '/users/me/presence', { status: 'active' }),
    await viewer.ok('POST', '/register', { fetch_event_types: ['presence'], event_types: [] }),
  ];
  return answers.map(({ presences }) => Object.keys(presences));
}

describe('a guest who may not see a user', () => {
  test('gets their presence without their real address', async () => {
    await isLimited();
    const types = { event_types: ['presence'], fetch_event_types: [] };
    const [theirs, members] = [await realm.guest.queue(types), await realm.member2.queue(types)];
    for (const who of [realm.member, stranger]) await who.ok('POST', '/users/me/presence', { status: 'active' });
    const isOf =
      ({ user_id }: Client) =>
      (event: Json): boolean =>
        event.user_id === user_id;
    expect((await members.next(isOf(stranger))).email).toBe(stranger.email);
    const ofMember = async (): Promise<string | undefined> => {
      await theirs.poll(true);
      return theirs.seen.find(isOf(realm.member))?.email;
    };
    await theirs.next(isOf(stranger));
    await expect.poll(ofMember).toBe(realm.member.email);
    expect(theirs.seen.filter(isOf(stranger)).map(({ email }) => email)).toEqual([placeholder]);

    for (const addresses of await addressesFor(realm.guest)) {
      expect(addresses).toEqual(expect.arrayContaining([placeholder, realm.member.email]));
      expect(addresses).not.toContain(stranger.email);
    }
    for (const addresses of await addressesFor(realm.member2)) expect(addresses).toContain(stranger.email);
  });

  test('cannot find out whether an address has an account', async () => {
    await isLimited();
    await stranger.ok('POST', '/users/me/presence', { status: 'active' });
    const none = await realm.guest.get(`/users/nobody@${realm.host}/presence`);
    for (const who of [stranger.email, stranger.user_id]) {
      const { status, body } = await realm.guest.get(`/users/${who}/presence`);
      expect([status, body]).toEqual([400, none.body]);
      expect((await realm.member2.get(`/users/${who}/presence`)).status).toBe(200);
    }
  });
});
