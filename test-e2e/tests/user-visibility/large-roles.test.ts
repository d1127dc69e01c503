/** Changes of a role after which a user sees more or fewer users than one unit announces. */
import { type Client, copyRow, countOf, type Json, openRealm, type Queue, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** With two events for each, more than the 25,000 events of a unit. */
const copies = 12_600;
let realm: Realm;

/** Administrators see the addresses of all users, and guests nobody with whom they share no channel. */
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  await member.ok('PATCH', '/settings', { email_address_visibility: 3 });
  await copyRow({ table: 'users.account', where: `id = ${member.user_id}` }, copies, {
    email: "'copy' || n || '@members.example'",
    full_name: "'Copy ' || n",
  });
});

const change = async (who: Client, role: number): Promise<unknown[]> => {
  const { status, body } = await realm.owner.patch(`/users/${who.user_id}`, { role });
  return [status, body.msg];
};
/** The names and addresses that this user sees of all users. */
const seenBy = async (who: Client): Promise<Json[]> => (await who.ok('GET', '/users')).members;
const addressesSeenBy = async (who: Client): Promise<number> =>
  (await seenBy(who)).filter(({ delivery_email }) => delivery_email?.startsWith('copy')).length;
const announcedAddresses = () =>
  countOf(
    'log.event',
    `realm_id = ${realm.id} AND type = 'realm_user' AND event->>'op' = 'update' AND event->>'isForClientsOnly' = 'true'
      AND event->'body'->'person'->>'avatar_url' IS NULL`,
  );

test('an administrator with 12,600 addresses is demoted and promoted, and receives events about 3,000 of them', async () => {
  const { administrator } = realm;
  expect(await addressesSeenBy(administrator)).toBe(copies);
  expect(await change(administrator, 400)).toEqual([200, '']);
  expect([await announcedAddresses(), await addressesSeenBy(administrator)]).toEqual([3_000, 0]);
  expect(await change(administrator, 200)).toEqual([200, '']);
  expect([await announcedAddresses(), await addressesSeenBy(administrator)]).toEqual([6_000, copies]);
});

/** Polls until the queue has ended, well before a heartbeat; returns the events until then. */
async function untilEnded(queue: Queue): Promise<Json[]> {
  const from = queue.seen.length;
  const until = Date.now() + 30_000;
  for (;;) {
    try {
      await queue.poll();
    } catch (error) {
      expect(String(error)).toContain('BAD_EVENT_QUEUE_ID');
      expect(Date.now()).toBeLessThan(until);
      return queue.seen.slice(from);
    }
  }
}

test('the queues of a user who becomes a guest or a member end if too many users are hidden or shown', async () => {
  const { owner } = realm;
  const person = await realm.person();
  const stranger = await realm.person();
  for (const [role, isHidden] of [
    [600, true],
    [400, false],
  ] as const) {
    const queue = await person.queue({ event_types: ['realm_user', 'user_group'] });
    const ended = untilEnded(queue);
    expect(await change(person, role)).toEqual([200, '']);
    const renamed = `Stranger ${role}`;
    await owner.ok('PATCH', `/users/${stranger.user_id}`, { full_name: renamed });
    const events = await ended;
    if (isHidden) expect(JSON.stringify(events)).not.toContain(renamed);
    const known = (await seenBy(person)).filter(({ full_name }) => full_name !== 'Unknown user');
    if (isHidden) expect(known).toMatchObject([{ user_id: person.user_id }]);
    else expect(known.length).toBeGreaterThan(copies);
    const again = await person.queue({ event_types: ['realm_user'] });
    await person.ok('PATCH', '/settings', { full_name: `Renamed ${role}` });
    await again.next((event) => event.person.full_name === `Renamed ${role}`);
  }
});
