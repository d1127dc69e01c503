/** Changes of users that concern more channels than a unit has room for events. */
import { connected, copyRow, countOf, type Json, openRealm, type Queue, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** A unit with 25,000 events fails. */
const copies = 25_100;
let realm: Realm;

/** Each channel has the member and two others as subscribers; no two channels have the same. */
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  const { id } = await owner.ok('POST', '/channels/create', { name: 'original', subscribers: [member.user_id] });
  await copyRow({ table: 'channels.channel', where: `id = ${id}` }, copies, {
    name: "'copy ' || n",
    subscriber_count: '3',
  });
  await copyRow({ table: 'channels.person', where: `user_id = ${member.user_id}` }, 320, {
    user_id: '2000000000 + n',
    email: "'copy' || n || '@many.example'",
  });
  await connected(async (client) => {
    await client.query(
      `INSERT INTO channels.subscription
       SELECT (jsonb_populate_record(s, jsonb_build_object('channel_id', c.id, 'user_id', u.id))).*
       FROM channels.subscription s, (SELECT id, row_number() OVER (ORDER BY id)::int AS n FROM channels.channel
         WHERE realm_id = ${realm.id} AND id <> ${id}) c,
       LATERAL (VALUES (${member.user_id}), (2000000001 + c.n % 160), (2000000161 + c.n / 160)) u (id)
       WHERE s.channel_id = ${id} AND s.user_id = ${member.user_id}`,
    );
    await client.query(`UPDATE channels.directory SET stamp = 'copied' WHERE realm_id = ${realm.id}`);
    await client.query('ANALYZE channels.subscription');
  });
});

/** Polls until events of this kind name as many channels. */
const untilNamed = async (queue: Queue, fits: (event: Json) => boolean, idsOf: (event: Json) => number[]) => {
  const ids = new Set<number>();
  await expect
    .poll(
      async () => {
        for (const event of await queue.poll(true)) if (fits(event)) for (const id of idsOf(event)) ids.add(id);
        return ids.size;
      },
      { interval: 500 },
    )
    .toBe(copies + 1);
};
const personsWhere = (userId: number, condition: string) =>
  countOf('channels.person', `realm_id = ${realm.id} AND user_id = ${userId} AND ${condition}`);
const parked = () => countOf('channels.parked_event', `realm_id = ${realm.id}`);

test('a guest becomes a member and sees all channels', async () => {
  const { owner, guest } = realm;
  const queue = await guest.queue({ event_types: ['stream', 'subscription'] });
  await owner.ok('PATCH', `/users/${guest.user_id}`, { role: 400 });
  await untilNamed(
    queue,
    ({ type, op }) => type === 'stream' && op === 'create',
    ({ streams }) => streams.map(({ stream_id }: Json) => stream_id),
  );
  expect([await personsWhere(guest.user_id, 'role = 400'), await parked()]).toEqual([1, 0]);
  // Subscribers are announced while there is room.
  await queue.next(({ op }) => op === 'peer_add');
});

test('a deactivated user leaves the lists of subscribers of all channels', async () => {
  const { owner, member } = realm;
  const queue = await owner.queue({ event_types: ['subscription'] });
  await owner.ok('DELETE', `/users/${member.user_id}`);
  await untilNamed(
    queue,
    ({ op, user_ids }) => op === 'peer_remove' && user_ids.includes(member.user_id),
    ({ stream_ids }) => stream_ids,
  );
  expect([await personsWhere(member.user_id, 'NOT is_active'), await parked()]).toEqual([1, 0]);
});
