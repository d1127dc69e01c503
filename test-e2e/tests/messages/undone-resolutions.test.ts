import { connected, type Json, noticesSent, type Realm } from '@natter/testkit';
import type { Client } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { channel, openQuietRealm } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  at = await channel(realm.owner, [realm.owner, realm.member, realm.member2]);
});

const send = async (topic: string): Promise<number> =>
  (await realm.member.ok('POST', '/messages', { type: 'channel', to: at, topic, content: 'hello' })).id;
const rename = (id: number, topic: string): Promise<Json> =>
  realm.member.ok('PATCH', `/messages/${id}`, { topic, propagate_mode: 'change_all' });
const bulk = { client_capabilities: { bulk_message_deletion: true } };

/** The messages of a topic after all notices were sent: ids and texts. */
async function messagesIn(topic: string): Promise<[number, string][]> {
  await noticesSent(realm.id);
  const narrow = [
    { operator: 'channel', operand: at },
    { operator: 'topic', operand: topic },
  ];
  const page = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false, narrow };
  return (await realm.member.ok('GET', '/messages', page)).messages.map(({ id, content }: Json) => [id, content]);
}
const textsIn = async (topic: string): Promise<string[]> => (await messagesIn(topic)).map(([, text]) => text);
const marked = (how: string): string =>
  `@_**${realm.member.full_name}|${realm.member.user_id}** has marked this topic as ${how}.`;

test('reopening a topic at once deletes the notice that it was resolved and does not send another one', async () => {
  const { member2, owner } = realm;
  await member2.ok('PATCH', '/settings', { resolved_topic_notice_auto_read_policy: 'never' });
  const queue = await owner.queue({ ...bulk, event_types: ['update_message', 'delete_message', 'message'] });
  const id = await send('task');
  await rename(id, '✔ task');
  const [, [notice, text] = []] = await messagesIn('✔ task');
  expect(text).toBe(marked('resolved'));
  const unread = async (): Promise<number> =>
    (await member2.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] })).unread_msgs
      .count;
  const before = await unread();
  await rename(id, 'task');
  expect(await queue.next(({ type }) => type === 'delete_message')).toMatchObject({
    message_ids: [notice],
    stream_id: at,
    topic: 'task',
  });
  expect(await messagesIn('task')).toEqual([[id, 'hello']]);
  expect(await unread()).toBe(before - 1);
  // If the topic is resolved again, there is another notice.
  await rename(id, '✔ task');
  expect(await textsIn('✔ task')).toEqual(['hello', marked('resolved')]);
});

test('reopening a topic keeps a notice that is older or no longer the last message', async () => {
  const [old, answered] = [await send('old'), await send('answered')];
  await rename(old, '✔ old');
  await rename(answered, '✔ answered');
  await noticesSent(realm.id);
  await connected((client) =>
    client.query(
      `UPDATE messaging.scheduled_message SET sent_at = sent_at - interval '61 seconds'
       WHERE realm_id = $1 AND is_resolution AND topic = '✔ old'`,
      [realm.id],
    ),
  );
  await send('✔ answered');
  await rename(old, 'old');
  await rename(answered, 'answered');
  expect(await textsIn('old')).toEqual(['hello', marked('resolved'), marked('unresolved')]);
  expect(await textsIn('answered')).toEqual(['hello', marked('resolved'), 'hello', marked('unresolved')]);
});

/** Lets no scheduler deliver in the realm until `COMMIT`. */
async function hold(holder: Client): Promise<void> {
  await holder.query('BEGIN');
  await holder.query('SELECT pg_advisory_xact_lock(7312, $1)', [realm.id]);
}

test('a pending notice is not sent if the topic is reopened', async () => {
  const [whole, part] = [await send('waits'), await send('splits')];
  const other = await send('splits');
  await connected(async (holder) => {
    await hold(holder);
    await rename(whole, '✔ waits');
    await rename(whole, 'waits');
    await rename(part, '✔ splits');
    await realm.member.ok('PATCH', `/messages/${other}`, { topic: 'splits' });
    await holder.query('COMMIT');
  });
  expect(await messagesIn('waits')).toEqual([[whole, 'hello']]);
  expect(await messagesIn('✔ waits')).toEqual([]);
  // A move of only one message out of a resolved topic does not reopen the topic.
  expect(await textsIn('✔ splits')).toEqual(['hello', marked('resolved')]);
  expect(await textsIn('splits')).toEqual(['hello', marked('unresolved')]);
});

test('a notice that is sent while the topic is reopened is deleted', async () => {
  const id = await send('races');
  const count = async (client: Client, query: string, value: unknown): Promise<number | null> =>
    (await client.query(query, [value])).rowCount;
  const free = `SELECT FROM messaging.scheduled_message
    WHERE realm_id = $1 AND topic = '✔ races' AND state = 'waiting' FOR UPDATE SKIP LOCKED`;
  const race = async (clock: Client, holder: Client, other: Client): Promise<void> => {
    await hold(holder);
    await rename(id, '✔ races');
    await clock.query('BEGIN');
    const { rows } = await clock.query<{ pid: number }>(
      'SELECT pg_backend_pid() AS pid FROM log.clock WHERE realm_id = $1 FOR UPDATE',
      [realm.id],
    );
    const blocked = 'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
    const reopened = rename(id, 'races');
    try {
      // The request waits to commit the count of its messages, and then the delivery, which has locked the notice.
      await expect.poll(() => count(other, blocked, rows[0]?.pid)).toBeGreaterThan(0);
      await holder.query('COMMIT');
      await expect.poll(() => count(other, free, realm.id)).toBe(0);
    } finally {
      await clock.query('ROLLBACK');
    }
    await reopened;
  };
  await connected((clock) => connected((holder) => connected((other) => race(clock, holder, other))));
  expect(await messagesIn('races')).toEqual([[id, 'hello']]);
  expect(await messagesIn('✔ races')).toEqual([]);
});
