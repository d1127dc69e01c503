/** Channels that exist already, and appear to a user: many at once, and to new users. */
import { Client, connected, copyRow, type Json, type Queue, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { whileConsumerIsHeld } from '../held-consumer.ts';
import { channel, group, openQuietRealm, systemGroups } from './setting.ts';

const rows = <R extends object>(text: string, values: unknown[]): Promise<R[]> =>
  connected(async (client) => (await client.query<R>(text, values)).rows);

/** The transactions that wrote messaging's copies of the realm's channels. */
const writersOfCopies = ({ id }: Realm) =>
  rows('SELECT channel_id, xmin::text FROM messaging.channel WHERE realm_id = $1 ORDER BY channel_id', [id]);

/** The numbers of channels in the realm's events about channels that appear, except new ones. */
const announced = async ({ id }: Realm): Promise<number[]> => {
  const found = await rows<{ count: number }>(
    `SELECT json_array_length(event->'body'->'streams') AS count FROM log.event
     WHERE realm_id = $1 AND type = 'stream' AND event->>'op' = 'create' AND event->'note' IS NULL ORDER BY number`,
    [id],
  );
  return found.map(({ count }) => count);
};

const createBot = async ({ owner }: Realm, short_name: string): Promise<Client> => {
  const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name: short_name, short_name });
  const { user } = await owner.ok('GET', `/users/${user_id}`);
  return new Client(owner, { user_id, api_key, email: user.email, full_name: short_name });
};

const idsIn = (queue: Queue, op: string, from = 0): number[] =>
  queue.seen
    .slice(from)
    .filter((event) => event.type === 'stream' && event.op === op)
    .flatMap(({ streams }) => streams.map(({ stream_id }: Json) => stream_id));

test('a user who becomes a member gets many channels in portions, and the copies in messaging are not written', async () => {
  const realm = await openQuietRealm();
  const { owner, guest } = realm;
  const original = await channel(owner, [owner]);
  const copies = 1_100;
  await copyRow({ table: 'channels.channel', where: `id = ${original}` }, copies, { name: "'copy ' || n" });
  const queue = await guest.queue({ event_types: ['stream'] });
  const before = await writersOfCopies(realm);
  await owner.ok('PATCH', `/users/${guest.user_id}`, { role: 400 });
  await expect
    .poll(async () => {
      await queue.poll(true);
      return new Set(idsIn(queue, 'create')).size;
    })
    .toBe(copies + 1);
  const portions = await announced(realm);
  expect(Math.max(...portions)).toBeLessThanOrEqual(500);
  expect(portions.reduce((sum, count) => sum + count, 0)).toBe(copies + 1);
  // When messaging has a later channel, it has handled the events before.
  const later = await channel(owner);
  const after = async () => (await writersOfCopies(realm)) as { channel_id: number }[];
  await expect.poll(async () => (await after()).some(({ channel_id }) => channel_id === later)).toBe(true);
  expect((await after()).filter(({ channel_id }) => channel_id !== later)).toEqual(before);
  const from = queue.seen.length;
  await owner.ok('PATCH', `/users/${guest.user_id}`, { role: 600 });
  await expect
    .poll(async () => {
      await queue.poll(true);
      return new Set(idsIn(queue, 'delete', from)).size;
    })
    .toBe(copies + 2);
});

test('the first register of a new bot has all channels that it can see', async () => {
  const realm = await openQuietRealm();
  const { owner } = realm;
  const open = await channel(owner, [owner]);
  const members = (await systemGroups(realm))['role:members'];
  const revealed = await channel(owner, [owner], { invite_only: true, can_subscribe_group: members });
  const hidden = await channel(owner, [owner], { invite_only: true });
  const held = { realmId: realm.id, schema: 'channels', name: 'people' };
  // For longer than a register waits for the consumer before it takes a snapshot.
  const queue = await whileConsumerIsHeld(held, 5_000, async () => {
    const bot = await createBot(realm, 'fresh');
    return bot.queue({ event_types: ['stream', 'message'], fetch_event_types: ['stream'] });
  });
  const ids = queue.state.streams.map(({ stream_id }: Json) => stream_id);
  expect([open, revealed, hidden].map((id) => ids.includes(id))).toEqual([true, true, false]);
  const later = await channel(owner);
  await queue.next(({ op, streams }) => op === 'create' && streams[0].stream_id === later);
  expect(idsIn(queue, 'create')).toEqual([later]);
});

test('channels are not announced to a new user', async () => {
  const realm = await openQuietRealm();
  await channel(realm.owner, [realm.owner]);
  const isAnnounced = async (name: string): Promise<boolean> => {
    const before = (await announced(realm)).length;
    // A register waits until the addition is applied.
    await (await createBot(realm, name)).queue({ fetch_event_types: ['stream'] });
    return (await announced(realm)).length > before;
  };
  // On a busy machine an addition may be applied late.
  let attempts = 1;
  while ((await isAnnounced(`prompt${attempts}`)) && attempts < 20) attempts++;
  expect(attempts).toBeLessThan(20);
});

test('channels are announced to a new user whose addition is applied late: a queue may lack them', async () => {
  const realm = await openQuietRealm();
  const { owner } = realm;
  const open = await channel(owner, [owner]);
  const queue = await whileConsumerIsHeld(
    { realmId: realm.id, schema: 'channels', name: 'people' },
    60_000,
    async () => {
      const bot = await createBot(realm, 'late');
      // A register without channels does not wait for the addition.
      const opened = await bot.queue({ event_types: ['stream', 'subscription'], fetch_event_types: ['message'] });
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      return opened;
    },
  );
  await queue.next(({ op, streams }) => op === 'create' && streams.some((one: Json) => one.stream_id === open));
  // Their subscribers are not announced.
  const later = await channel(owner);
  await queue.next(({ op, streams }) => op === 'create' && streams[0].stream_id === later);
  expect(queue.seen.filter(({ op, stream_ids }) => op === 'peer_add' && stream_ids.includes(open))).toEqual([]);
});

test('channels are announced to a new user if an operator re-applies the event later', async () => {
  const realm = await openQuietRealm();
  const { owner } = realm;
  const open = await channel(owner, [owner]);
  const consumer = "realm_id = $1 AND name = 'people'";
  const bot = await connected(async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT FROM channels.consumer WHERE ${consumer} FOR UPDATE`, [realm.id]);
    const made = await createBot(realm, 'late');
    await client.query(
      `UPDATE channels.consumer SET position = (SELECT max(number) FROM log.event WHERE realm_id = $1) WHERE ${consumer}`,
      [realm.id],
    );
    await client.query(
      `INSERT INTO channels.parked_event (realm_id, name, number, error)
       SELECT $1, 'people', number, 'test' FROM log.event
       WHERE realm_id = $1 AND type = 'realm_user' AND event->>'op' = 'add' ORDER BY number DESC LIMIT 1`,
      [realm.id],
    );
    await client.query('COMMIT');
    return made;
  });
  const queue = await bot.queue({ event_types: ['stream', 'subscription'] });
  expect(queue.state.streams).toEqual([]);
  await rows(`UPDATE channels.parked_event SET is_asked_for = true WHERE ${consumer}`, [realm.id]);
  const { stream_ids, user_ids } = await queue.next(({ op }) => op === 'peer_add');
  expect([stream_ids, user_ids]).toEqual([[open], [owner.user_id]]);
  expect(idsIn(queue, 'create')).toEqual([open]);
});

test('a bot that joins a group later is told of the channels of the group', async () => {
  const realm = await openQuietRealm();
  const { owner } = realm;
  const team = await group(realm, []);
  const revealed = await channel(owner, [owner], { invite_only: true, can_subscribe_group: team });
  const bot = await createBot(realm, 'joining');
  const queue = await bot.queue({ event_types: ['stream', 'subscription'] });
  expect(queue.state.streams).toEqual([]);
  await owner.ok('POST', `/user_groups/${team}/members`, { add: [bot.user_id] });
  await queue.next(({ op }) => op === 'peer_add');
  expect(idsIn(queue, 'create')).toEqual([revealed]);
});

test('a new user is subscribed to many default channels by events of at most 500 channels', async () => {
  const realm = await openQuietRealm();
  const original = await channel(realm.owner, [], { is_default_stream: true });
  const copies = 600;
  await copyRow({ table: 'channels.channel', where: `id = ${original}` }, copies, { name: "'copy ' || n" });
  const { user_id } = await realm.person();
  const counts = async (): Promise<number[]> => {
    const found = await rows<{ count: number }>(
      `SELECT json_array_length(event->'body'->'subscriptions') AS count FROM log.event
       WHERE realm_id = $1 AND type = 'subscription' AND event->>'op' = 'add'
         AND (event->'note'->'user_ids')::text = $2 ORDER BY number`,
      [realm.id, `[${user_id}]`],
    );
    return found.map(({ count }) => count);
  };
  await expect.poll(async () => (await counts()).length).toBeGreaterThan(0);
  const portions = await counts();
  expect(Math.max(...portions)).toBeLessThanOrEqual(500);
  expect(portions.reduce((sum, count) => sum + count, 0)).toBe(copies + 1);
});
