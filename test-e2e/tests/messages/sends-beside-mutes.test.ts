import { type Client, connected, copyRow, type Json, openRealm, type Queue, type Realm } from '@natter/testkit';
import type { Client as Session } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.owner, [realm.owner, realm.member, realm.member2]);
});

const say = async (to: number): Promise<number> =>
  (await realm.member2.ok('POST', '/messages', { type: 'channel', to, topic: 't', content: 'x' })).id;
const tell = async (): Promise<number> =>
  (await realm.member2.ok('POST', '/messages', { type: 'direct', to: [realm.member.user_id], content: 'x' })).id;
const path = () => `/users/me/muted_users/${realm.member2.user_id}`;
const mute = () => realm.member.ok('POST', path());
const unmute = () => realm.member.ok('DELETE', path());
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const queueOf = (who: Client): Promise<Queue> =>
  who.queue({ event_types: ['message', 'update_message_flags', 'subscription'] });

/** The unread messages of the sender according to the events of a queue. */
async function unreadOf(queue: Queue): Promise<number[]> {
  await queue.settle();
  const unread = new Set<number>();
  for (const { type, op, flag, flags, message, messages } of queue.seen) {
    if (type === 'message' && message.sender_id === realm.member2.user_id && !flags.includes('read'))
      unread.add(message.id);
    if (type === 'update_message_flags' && flag === 'read')
      for (const id of messages) op === 'add' ? unread.delete(id) : unread.add(id);
  }
  return [...unread].sort((a, b) => a - b);
}

/** The unread messages of the sender according to a register. */
async function unreadNow(): Promise<number[]> {
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] });
  const { streams, pms } = state.unread_msgs;
  const direct = pms.filter(({ sender_id }: Json) => sender_id === realm.member2.user_id);
  return [...streams.filter(({ topic }: Json) => topic === 't'), ...direct]
    .flatMap((listed: Json): number[] => listed.unread_message_ids)
    .sort((a, b) => a - b);
}

/** Marks the messages as read, so that the next test begins without unread messages. */
async function read(queue: Queue): Promise<void> {
  const messages = JSON.stringify(await unreadOf(queue));
  await realm.member.ok('POST', '/messages/flags', { messages, op: 'add', flag: 'read' });
}

/** While messaging applies no mutes. */
const whileHeld = <R>(work: (holder: Session) => Promise<R>): Promise<R> =>
  connected(async (holder) => {
    await holder.query('BEGIN');
    const position = `SELECT FROM messaging.consumer WHERE realm_id = $1 AND name = 'periods' FOR UPDATE`;
    await holder.query(position, [realm.id]);
    const result = await work(holder);
    await holder.query('COMMIT');
    return result;
  });

/** The number of sessions of messaging that wait for a lock of this one, or for one that waits for it. */
async function waitingFor(session: Session): Promise<number> {
  const [own] = (await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  return connected(async (observer) => {
    const waiting = `
      WITH RECURSIVE behind AS (
        SELECT $1::int AS pid UNION SELECT a.pid FROM pg_stat_activity a JOIN behind b ON b.pid = ANY (pg_blocking_pids(a.pid)))
      SELECT FROM behind JOIN pg_stat_activity USING (pid) WHERE usename = 'natter_messaging'`;
    return (await observer.query(waiting, [own?.pid])).rowCount ?? 0;
  });
}

/** The register waits until messaging has applied the mutes. */
async function expectUnread(queue: Queue, expected: (now: number[]) => unknown): Promise<void> {
  const now = await unreadNow();
  expect(await unreadOf(queue)).toEqual(now);
  expect(now).toEqual(expected(now));
}

test('after mutes and unmutes beside messages, events and a register tell the same messages as unread', async () => {
  const queue = await queueOf(realm.member);
  for (let round = 0; round < 12; round++) {
    for (const change of [mute, unmute]) {
      const changed = pause(Math.random() * 40).then(change);
      const sends = Array.from({ length: 25 }, (_, index) =>
        pause(index * 4).then(() => (index % 2 === 0 ? say(at) : tell())),
      );
      await Promise.all([changed, ...sends]);
    }
    await expectUnread(queue, (now) => now);
  }
  await read(queue);
});

test('messages that are sent before messaging applies a mute or its end become read or unread', async () => {
  const queue = await queueOf(realm.member);
  await whileHeld(async () => {
    await say(at);
    await mute();
    await tell();
    await say(at);
  });
  await tell();
  await expectUnread(queue, () => []);
  const late = await whileHeld(async () => {
    await say(at);
    await unmute();
    return [await tell(), await say(at)];
  });
  await expectUnread(queue, () => late);
  const last = await whileHeld(async () => {
    await mute();
    await tell();
    await unmute();
    return say(at);
  });
  await expectUnread(queue, () => [last]);
  await read(queue);
});

test.each(['applied', 'committed'])('a message that is decided before a mute or its end is %s first', async (first) => {
  for (const change of [mute, unmute]) {
    const queue = await queueOf(realm.member);
    const sent: Promise<number>[] = [];
    await connected(async (clock) => {
      await whileHeld(async (holder) => {
        await change();
        await clock.query('BEGIN');
        await clock.query('SELECT FROM log.clock WHERE realm_id = $1 FOR UPDATE', [realm.id]);
        const apply = () => holder.query('COMMIT');
        const send = async () => void sent.push(tell());
        for (const [index, step] of (first === 'applied' ? [send, apply].reverse() : [send, apply]).entries()) {
          await step();
          await expect.poll(() => waitingFor(clock)).toBeGreaterThan(index);
        }
      });
      await clock.query('COMMIT');
    });
    const [id] = await Promise.all(sent);
    await expectUnread(queue, () => (change === mute ? [] : [id]));
    const arrived = queue.seen.find(({ type, message }) => type === 'message' && message.id === id);
    if (first === 'applied') expect(arrived?.flags.includes('read')).toBe(change === mute);
    await read(queue);
  }
});

test('messages are corrected only for users who received them, also if their subscriptions are applied later', async () => {
  const { owner, member, member2 } = realm;
  const joined = await channel(owner, [owner, member2]);
  const left = await channel(owner, [owner, member, member2]);
  const named = async (id: number) => ({ name: (await owner.ok('GET', `/streams/${id}`)).stream.name });
  const joins = { subscriptions: [await named(joined)], principals: [member.user_id] };
  const leaves = { subscriptions: [(await named(left)).name] };
  await mute();
  const queue = await queueOf(member);
  const [unread, missed] = await whileHeld(async () => {
    await unmute();
    const before = [await say(joined)];
    await owner.ok('POST', '/users/me/subscriptions', joins);
    await member.ok('DELETE', '/users/me/subscriptions', leaves);
    return [[await say(joined)], [...before, await say(left)]];
  });
  await expectUnread(queue, () => unread);
  const announced = queue.seen.flatMap(({ type, messages }) => (type === 'update_message_flags' ? messages : []));
  expect(announced.filter((id) => missed?.includes(id))).toEqual([]);
});

/** The messages that became read or unread, as the events of a queue tell, each as often as they tell it. */
async function announced(queue: Queue): Promise<number[]> {
  await queue.settle();
  return queue.seen.flatMap(({ type, messages }) => (type === 'update_message_flags' ? messages : []));
}

test('a message that is sent after messaging applied the end of a mute is not corrected', async () => {
  const { member } = realm;
  await mute();
  const queue = await queueOf(member);
  const sent = await connected(async (holder) => {
    const change = `SELECT number::int FROM messaging.mute_change WHERE realm_id = $1 AND muted_id = $2`;
    const changedAt = async () => (await holder.query(change, [realm.id, realm.member2.user_id])).rows[0]?.number;
    const before = await changedAt();
    await holder.query('BEGIN');
    // No flags of this user change meanwhile.
    await holder.query('SELECT pg_advisory_xact_lock(7305, $1)', [member.user_id]);
    await unmute();
    await expect.poll(changedAt).toBeGreaterThan(before);
    const id = await tell();
    await holder.query('COMMIT');
    return id;
  });
  await expectUnread(queue, () => [sent]);
  expect(await announced(queue)).toEqual([]);
  await read(queue);
});

test('a message after several changes of a mute that messaging applies later is corrected by the last one before it', async () => {
  const queue = await queueOf(realm.member);
  const sent = await whileHeld(async () => {
    const ids: number[] = [];
    for (const change of [mute, unmute, mute, unmute]) {
      await change();
      ids.push(await say(at), await tell());
    }
    return ids;
  });
  await expectUnread(queue, () => sent.slice(6));
  // The second mute marks those as read that the first unmute announced.
  const expected = [...sent, ...sent.slice(2, 4)].sort((a, b) => a - b);
  expect((await announced(queue)).sort((a, b) => a - b)).toEqual(expected);
  await read(queue);
});

test.each(['another event', 'the end of the mute'])(
  'a message beside a mute whose event the previous release handled again is corrected with %s',
  async (later) => {
    const isEnd = later === 'the end of the mute';
    const queue = await queueOf(realm.member);
    const sent = await whileHeld(async (holder) => {
      await mute();
      const id = await tell();
      const { rows } = await holder.query<{ number: string }>(
        "SELECT max(number) AS number FROM log.event WHERE realm_id = $1 AND type = 'muted_users'",
        [realm.id],
      );
      const number = rows[0]?.number;
      // The first transaction of this release.
      await holder.query(
        'INSERT INTO messaging.mute_period (realm_id, user_id, muted_id, from_id) VALUES ($1, $2, $3, $4)',
        [realm.id, realm.member.user_id, realm.member2.user_id, number],
      );
      await holder.query(
        `INSERT INTO messaging.mute_change (realm_id, muted_id, number, corrected, through) VALUES ($1, $2, $3, $3, log.last_number($1))
         ON CONFLICT (realm_id, muted_id) DO UPDATE
           SET number = excluded.number, corrected = excluded.corrected, through = excluded.through`,
        [realm.id, realm.member2.user_id, number],
      );
      // The previous release finds the periods in the state after the event, and advances its position.
      await holder.query("UPDATE messaging.consumer SET position = $2 WHERE realm_id = $1 AND name = 'periods'", [
        realm.id,
        number,
      ]);
      return id;
    });
    await (isEnd ? unmute() : channel(realm.owner, [realm.owner]));
    await expectUnread(queue, () => []);
    expect(await announced(queue)).toEqual([sent]);
    if (!isEnd) await unmute();
  },
);

test('messages that are sent before messaging applies a mute become read in several transactions', async () => {
  const queue = await queueOf(realm.member);
  const [first, number] = await whileHeld(async (holder) => {
    await mute();
    const id = await tell();
    const tick = { type: 'tick', body: {}, audience: { users: { ids: [] } } };
    const ticks = JSON.stringify(Array.from({ length: 6_000 }, () => tick));
    return connected(async (client) => {
      await client.query("SELECT log.append($1, '{}', '{}', 'messaging', $2)", [realm.id, ticks]);
      const where = `realm_id = ${realm.id} AND id = ${id}`;
      await copyRow({ table: 'messaging.message', where }, 6_000, { id: `${id} + n` });
      const { rows } = await holder.query<{ number: string }>('SELECT number FROM log.position($1)', [realm.id]);
      return [id, Number(rows[0]?.number)];
    });
  });
  expect(number).toBe((first ?? 0) + 6_000);
  await expectUnread(queue, () => []);
  expect(await announced(queue)).toEqual(Array.from({ length: 6_001 }, (_, index) => (first ?? 0) + index));
  const { rows } = await connected((client) =>
    client.query<{ count: number }>(
      `SELECT count(DISTINCT xmin::text)::int AS count FROM log.event
       WHERE realm_id = $1 AND number > $2 AND type = 'update_message_flags'`,
      [realm.id, number],
    ),
  );
  expect(rows[0]?.count).toBe(2);
});
