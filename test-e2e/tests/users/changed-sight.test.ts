import { Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';

let realm: Realm;
let stranger: Client;
beforeEach(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await realm.owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  stranger = await realm.person({ full_name: 'Stranger' });
  await stranger.ok('PATCH', '/settings', { email_address_visibility: 2 });
});

async function botOf(owner: Client): Promise<Client> {
  const made = await owner.ok('POST', '/bots', { full_name: 'Toggled', short_name: 'toggled' });
  return new Client(owner, { ...made, full_name: 'Toggled', email: `toggled-bot@${realm.host}` });
}
const wanted = { event_types: ['realm_user', 'user_group', 'message'] };
/** The name and the address of a user as `who` sees them. */
const seenBy = async (who: Client, { user_id }: Client): Promise<Json[]> => {
  const { members } = await who.ok('GET', '/users', { user_ids: [user_id] });
  return [members[0].full_name, members[0].delivery_email];
};
const hidden = ['Unknown user', null];

test('a bot whose role changes gets no events about users that it sees from now on or no longer', async () => {
  const { member } = realm;
  const bot = await botOf(member);
  const queue = await bot.queue(wanted);
  const about = (events: Json[]): Json[] =>
    events.filter(({ type, person }) => type === 'realm_user' && person.user_id !== bot.user_id);
  const ofGroups = (events: Json[]): number[] => events.flatMap(({ user_ids }) => user_ids ?? []);
  for (const [role, seen] of [
    [600, hidden],
    [400, ['Stranger', stranger.email]],
  ] as const) {
    await member.ok('PATCH', `/bots/${bot.user_id}`, { role });
    const events = await queue.settle();
    expect(events.filter(({ person }) => person?.role === role).map(({ person }) => person.user_id)).toEqual([
      bot.user_id,
    ]);
    expect(about(events)).toEqual([]);
    expect(new Set(ofGroups(events))).toEqual(new Set([bot.user_id]));
    expect(await seenBy(bot, stranger)).toEqual(seen);
  }
});

test('a bot that becomes a guest gets no events about users that it no longer sees, nor their addresses', async () => {
  const { owner, member } = realm;
  const bot = await botOf(member);
  const queue = await bot.queue(wanted);
  await member.ok('PATCH', `/bots/${bot.user_id}`, { role: 600 });
  await queue.settle();
  await owner.ok('PATCH', `/users/${stranger.user_id}`, { full_name: 'Somebody Secret', role: 300 });
  const newcomer = await realm.person({ full_name: 'Newcomer Secret' });
  // The bot sees this user, but soon not the address.
  const friend = await realm.person();
  const principals = [bot.user_id, friend.user_id];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'shared' }], principals });
  await expect.poll(() => seenBy(bot, friend)).toEqual([friend.full_name, friend.email]);
  await friend.ok('PATCH', '/settings', { email_address_visibility: 2 });
  await owner.ok('DELETE', `/users/${stranger.user_id}`);
  const events = (await queue.settle()).filter(({ type }) => type !== 'message');
  expect(JSON.stringify(events)).not.toContain('Secret');
  const concerned = events.flatMap(({ type, person, user_ids }) => (type === 'user_group' ? user_ids : person.user_id));
  expect(concerned).not.toContain(stranger.user_id);
  const ofNewcomer = events.filter(({ person }) => person?.user_id === newcomer.user_id);
  for (const { op, person } of ofNewcomer) expect([op, person.full_name]).toEqual(['add', 'Unknown user']);
  expect(await seenBy(bot, friend)).toEqual([friend.full_name, null]);
  const addresses = events.filter(({ person }) => person?.user_id === friend.user_id && 'delivery_email' in person);
  expect(addresses.at(-1)?.person.delivery_email).toBeNull();
});

test('events about addresses that a person sees from now on or no longer are for clients only', async () => {
  const person = await realm.person();
  const queue = await person.queue({ event_types: ['realm_user'] });
  const direct = { type: 'direct', to: [person.user_id], content: 'x' };
  const { id: before } = await realm.owner.ok('POST', '/messages', direct);
  for (const [role, delivery_email] of [
    [600, null],
    [400, stranger.email],
  ] as const) {
    await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role });
    const isTold = (event: Json): boolean =>
      event.op === 'update' && event.person.user_id === stranger.user_id && 'delivery_email' in event.person;
    expect((await queue.next(isTold)).person.delivery_email).toBe(delivery_email);
  }
  const { rows } = await connected((client) =>
    client.query<{ event: Json }>(
      `SELECT event FROM log.event WHERE realm_id = $1 AND number > $2 AND type = 'realm_user' AND event->>'op' = 'update'
        AND event->'body'->'person'->>'user_id' = $3 ORDER BY number`,
      [realm.id, before, String(stranger.user_id)],
    ),
  );
  // The address and the picture that depends on it, and the address again.
  expect(rows.map(({ event }) => [Object.keys(event.body.person)[1], event.isForClientsOnly])).toEqual([
    ['delivery_email', true],
    ['avatar_url', true],
    ['delivery_email', true],
  ]);
});
