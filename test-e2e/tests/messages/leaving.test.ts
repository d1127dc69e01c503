import { type Client, connected, copyRow, countOf, type Json, openRealm } from '@natter/testkit';
import type { Client as Session } from 'pg';
import { expect, test } from 'vitest';
import { channel, nameOf } from '../channels/setting.ts';

const unreadTypes = ['message', 'update_message_flags'];
const unreadOf = async (who: Client): Promise<number> =>
  (await who.ok('POST', '/register', { fetch_event_types: unreadTypes })).unread_msgs.count;

/** A channel with some people, each of whom has more than 2,500 unread messages in it. */
async function openCrowded() {
  const realm = await openRealm();
  const { id: realmId, owner, member, member2, moderator, administrator, guest } = realm;
  const people = [member, member2, moderator, administrator, guest];
  const before = await Promise.all(people.map(unreadOf));
  const principals = people.map(({ user_id }) => user_id);
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'crowded' }],
    principals: [owner.user_id, ...principals],
    send_new_subscription_messages: false,
  });
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: 'crowded', topic: 'x', content: 'x' });
  // Numbers of the log for the copies, so that they lie in the period of the subscriptions.
  const tick = { type: 'tick', body: {}, audience: { users: { ids: [] } } };
  const ticks = JSON.stringify(Array.from({ length: 3_000 }, () => tick));
  const last = await connected(async (client) => {
    await client.query("SELECT log.append($1, '{}', '{}', 'messaging', $2)", [realmId, ticks]);
    const { rows } = await client.query<{ number: string }>('SELECT number FROM log.position($1)', [realmId]);
    return Number(rows[0]?.number);
  });
  const where = `realm_id = ${realmId} AND id = ${id}`;
  await copyRow({ table: 'messaging.message', where }, 2_500, { id: `${last - 2_800} + n` });
  expect(await unreadOf(member)).toBeGreaterThanOrEqual(2_500);
  const leave = () => owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['crowded'], principals });
  const leaving = (): Promise<number> => countOf('messaging.left_channels', `realm_id = ${realmId}`);
  return { realm, people, before, firstId: id, leave, leaving };
}

test('leaving a channel with many unread messages is processed in several transactions', async () => {
  const { realm, people, before, leave, leaving } = await openCrowded();
  const queues = await Promise.all(people.map((who) => who.queue({ event_types: ['update_message_flags'] })));
  await leave();
  for (const queue of queues) await queue.next(({ flag }) => flag === 'read');
  await expect.poll(() => Promise.all(people.map(unreadOf))).toEqual(before);
  await expect.poll(leaving).toBe(0);
  const { rows } = await connected((client) =>
    client.query<{ count: number }>(
      "SELECT count(DISTINCT xmin::text)::int AS count FROM log.event WHERE realm_id = $1 AND type = 'update_message_flags'",
      [realm.id],
    ),
  );
  expect(rows[0]?.count).toBeGreaterThan(1);
});

/** While no messages become read or unread for this user. */
const whileFlagsAreHeld = <R>({ user_id }: Client, work: (holder: Session) => Promise<R>): Promise<R> =>
  connected(async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT pg_advisory_xact_lock(7305, $1)', [user_id]);
    const result = await work(holder);
    await holder.query('COMMIT');
    return result;
  });

test('registers and changes of other channels do not wait until the messages of all who left are read', async () => {
  const { realm, people, before, leave, leaving } = await openCrowded();
  const { owner } = realm;
  const last = people.toSorted((a, b) => a.user_id - b.user_id).at(-1) as Client;
  const newcomer = await realm.person();
  const private_ = { invite_only: true, history_public_to_subscribers: false };
  const other = await channel(owner, [owner, newcomer], private_);
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: other, topic: 't', content: 'x' });
  const queue = await last.queue({ event_types: ['update_message_flags'] });
  const all = await unreadOf(last);
  const unread = await whileFlagsAreHeld(last, async () => {
    await leave();
    await expect.poll(leaving).toBe(1);
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: await nameOf(owner, other) }],
      principals: [people[0]?.user_id],
      send_new_subscription_messages: false,
    });
    await newcomer.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
    return [await unreadOf(last), await unreadOf(people[0] as Client)];
  });
  // An event after the register marks the remaining messages as read.
  expect(unread).toEqual([all, before[0]]);
  await queue.next(({ flag }) => flag === 'read');
  await expect.poll(() => unreadOf(last)).toBe(before[people.indexOf(last)]);
});

test('messages of a channel that a user left become read, also if the process that marks them is cut off', async () => {
  const { people, before, leave, leaving } = await openCrowded();
  const last = people.toSorted((a, b) => a.user_id - b.user_id).at(-1) as Client;
  await whileFlagsAreHeld(last, async (holder) => {
    await leave();
    await expect.poll(leaving).toBe(1);
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const cutOff = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
    await connected((admin) =>
      expect.poll(async () => (await admin.query(cutOff, [rows[0]?.pid])).rowCount).toBeGreaterThan(0),
    );
    expect(await leaving()).toBe(1);
  });
  await expect.poll(leaving).toBe(0);
  await expect.poll(() => unreadOf(last)).toBe(before[people.indexOf(last)]);
});

test('messages of a channel that a user left become read, also if they are moved to a private channel meanwhile', async () => {
  const { realm, people, before, firstId, leave, leaving } = await openCrowded();
  const { owner } = realm;
  const last = people.toSorted((a, b) => a.user_id - b.user_id).at(-1) as Client;
  const hidden = await channel(owner, [owner], { invite_only: true });
  await whileFlagsAreHeld(last, async () => {
    await leave();
    await expect.poll(leaving).toBe(1);
    await owner.ok('PATCH', `/messages/${firstId}`, { stream_id: hidden, send_notification_to_new_thread: false });
  });
  await expect.poll(leaving).toBe(0);
  await expect.poll(() => unreadOf(last)).toBe(before[people.indexOf(last)]);
});

test('the rest of a leave that a process of the previous release began is continued', async () => {
  const { id: realmId, owner, member } = await openRealm();
  const before = await unreadOf(member);
  const id = await channel(owner, [owner, member]);
  await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 't', content: 'x' });
  expect(await unreadOf(member)).toBeGreaterThan(before);
  const name = await nameOf(owner, id);
  await connected(async (client) => {
    await client.query('BEGIN');
    await client.query("SELECT FROM messaging.consumer WHERE realm_id = $1 AND name = 'periods' FOR UPDATE", [realmId]);
    await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals: [member.user_id] });
    const { rows } = await client.query<{ number: string }>(
      "SELECT number FROM log.event WHERE realm_id = $1 AND event->>'type' = 'subscription' AND event->>'op' = 'remove'",
      [realmId],
    );
    const of = [realmId, member.user_id, rows[0]?.number];
    await client.query(
      'UPDATE messaging.subscription_period SET to_id = $3 WHERE realm_id = $1 AND user_id = $2 AND channel_id = $4 AND to_id IS NULL',
      [...of, id],
    );
    await client.query('INSERT INTO messaging.leaving (realm_id, user_id, number) VALUES ($1, $2, $3)', of);
    await client.query('COMMIT');
  });
  await expect.poll(() => unreadOf(member)).toBe(before);
  expect(await countOf('messaging.leaving', `realm_id = ${realmId}`)).toBe(0);
});

test('a message that is sent, moved or marked as unread after a new subscription stays unread', async () => {
  const { realm, people, firstId, leave, leaving } = await openCrowded();
  const { id: realmId, owner } = realm;
  const last = people.toSorted((a, b) => a.user_id - b.user_id).at(-1) as Client;
  const { stream_id: crowded } = await owner.ok('GET', '/get_stream_id', { stream: 'crowded' });
  const send = (to: number) => owner.ok('POST', '/messages', { type: 'channel', to, topic: 'new', content: 'x' });
  const moved = await send(await channel(owner, [owner, last]));
  await connected(async (session) => {
    const { sent, marked } = await whileFlagsAreHeld(last, async () => {
      await leave();
      await expect.poll(leaving).toBe(1);
      const principals = [last.user_id];
      const subscriptions = [{ name: 'crowded' }];
      await owner.ok('POST', '/users/me/subscriptions', { subscriptions, principals });
      await owner.ok('PATCH', `/messages/${moved.id}`, { stream_id: crowded, send_notification_to_new_thread: false });
      // From now on, the lock keeps the scheduler from continuing with the user.
      await session.query('BEGIN');
      await session.query('SELECT FROM messaging.left_channels WHERE realm_id = $1 FOR UPDATE', [realmId]);
      const flag = { messages: `[${firstId}]`, op: 'remove', flag: 'read' };
      return { sent: await send(crowded), marked: last.ok('POST', '/messages/flags', flag) };
    });
    await Promise.race([marked, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    await session.query('COMMIT');
    await marked;
    await expect.poll(leaving).toBe(0);
    const { unread_msgs } = await last.ok('POST', '/register', { fetch_event_types: unreadTypes });
    const unread = unread_msgs.streams
      .filter(({ stream_id }: Json) => stream_id === crowded)
      .flatMap(({ unread_message_ids }: Json): number[] => unread_message_ids);
    expect(unread.sort((x: number, y: number) => x - y)).toEqual([firstId, moved.id, sent.id].sort((x, y) => x - y));
  });
});

test('toggling a subscription or a mute does not add a row each time', async () => {
  const { id: realmId, owner, member } = await openRealm();
  const subscriptions = [{ name: 'toggled' }];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions });
  const stream_id = (await owner.ok('GET', '/get_stream_id', { stream: 'toggled' })).stream_id;
  const periods = (): Promise<number> =>
    countOf(
      'messaging.subscription_period',
      `user_id = ${member.user_id} AND channel_id = ${stream_id} AND to_id IS NOT NULL`,
    );
  const toggle = async (whileSubscribed: () => Promise<unknown>): Promise<void> => {
    await member.ok('POST', '/users/me/subscriptions', { subscriptions });
    await whileSubscribed();
    await member.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['toggled'] });
    // A register waits for the effect.
    await unreadOf(member);
  };
  const nothing = async (): Promise<void> => undefined;
  for (let round = 0; round < 4; round++) await toggle(nothing);
  await expect.poll(periods).toBe(1);
  const sent = await owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'a', content: 'before' });
  await toggle(() => owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'b', content: 'x' }));
  await expect.poll(periods).toBe(2);
  // Messages that were moved there belong to the period, too.
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'source' }] });
  const moved = await owner.ok('POST', '/messages', { type: 'channel', to: 'source', topic: 'c', content: 'x' });
  await owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'b', content: 'between' });
  const silent = { stream_id, send_notification_to_old_thread: false, send_notification_to_new_thread: false };
  await toggle(() => owner.ok('PATCH', `/messages/${moved.id}`, silent));
  await expect.poll(periods).toBe(3);
  await toggle(nothing);
  await expect.poll(periods).toBe(3);
  // Nothing lies between two of these periods.
  const send = (content: string) =>
    owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'b', content });
  for (let round = 0; round < 4; round++) await toggle(() => send(`during ${round}`));
  await expect.poll(periods).toBe(3);
  const away = await owner.ok('POST', '/messages', { type: 'channel', to: 'source', topic: 'd', content: 'x' });
  await owner.ok('PATCH', `/messages/${away.id}`, silent);
  await toggle(() => send('after an arrival'));
  await expect.poll(periods).toBe(4);
  expect(sent.id).toBeLessThan(moved.id);

  const mutes = (): Promise<number> => countOf('messaging.mute_period', `realm_id = ${realmId}`);
  const muted = `/users/me/muted_users/${owner.user_id}`;
  const mute = async (whileMuted: () => Promise<unknown>): Promise<void> => {
    await member.ok('POST', muted);
    await whileMuted();
    await member.ok('DELETE', muted);
    await unreadOf(member);
  };
  for (let round = 0; round < 3; round++) await mute(nothing);
  await expect.poll(mutes).toBe(0);
  await mute(() => owner.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'x' }));
  await expect.poll(mutes).toBe(1);
});

test('merged subscription periods never include messages of a protected history between them', async () => {
  const { id: realmId, owner, member } = await openRealm();
  const form = { subscriptions: [{ name: 'secret' }], invite_only: true, history_public_to_subscribers: false };
  await owner.ok('POST', '/users/me/subscriptions', form);
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'secret' });
  const principals = [member.user_id];
  const send = async (content: string): Promise<string> => {
    await owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'a', content });
    return content;
  };
  const enter = () => owner.ok('POST', '/users/me/subscriptions', { subscriptions: form.subscriptions, principals });
  const end = async (): Promise<void> => {
    await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['secret'], principals });
    await unreadOf(member);
  };
  const around = {
    anchor: 'newest',
    num_before: 500,
    num_after: 0,
    narrow: [['channel', stream_id]],
    apply_markdown: false,
  };
  const seen = async (): Promise<string[]> => {
    await enter();
    const { messages } = await member.ok('GET', '/messages', around);
    await end();
    return messages.filter(({ sender_id }: Json) => sender_id === owner.user_id).map(({ content }: Json) => content);
  };
  const expected: string[] = [];
  for (let round = 0; round < 4; round++) {
    await enter();
    expected.push(await send(`during ${round}`));
    await end();
    if (round % 2 === 0) await send(`between ${round}`);
    expect(await seen()).toEqual(expected);
  }
  const where = `realm_id = ${realmId} AND user_id = ${member.user_id} AND channel_id = ${stream_id}`;
  expect(await countOf('messaging.subscription_period', where)).toBe(3);

  // Inserts more periods than are kept, all older than these three.
  const periods = {
    table: 'messaging.subscription_period',
    where: `${where} AND from_id = (SELECT min(from_id) FROM messaging.subscription_period WHERE ${where})`,
  };
  await copyRow(periods, 150, { from_id: '-2 * n', to_id: '-2 * n + 1' });
  await send('between again');
  expect(await seen()).toEqual(expected);
  expect(await countOf('messaging.subscription_period', where)).toBe(100);
});
