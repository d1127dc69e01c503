import { Client, connected, copyRow, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { withinOneWindow } from '../../one-window.ts';
import { uploadTo } from '../upload.ts';

const send = async (member: Client, content: string): Promise<number> =>
  (await member.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content })).id;

/** How much of the rate limit a user has left, and when the window ends. */
async function left(who: Client): Promise<{ remaining: number; reset: string }> {
  const { headers } = await who.get('/users/me');
  return { remaining: Number(headers['x-ratelimit-remaining']), reset: String(headers['x-ratelimit-reset']) };
}

/** Events that repeat a list must not grow with each request. */
test('an attachment event contains at most the newest 50 messages that refer to the file', async () => {
  const { member } = await openRealm();
  const { url } = (await uploadTo(member, '/user_uploads')).body;
  const ids: number[] = [];
  for (let count = 0; count < 51; count++) ids.push(await send(member, `[file](${url})`));
  const queue = await member.queue({ event_types: ['attachment'] });
  ids.push(await send(member, `[file](${url})`));
  const { attachment } = await queue.next(({ op }) => op === 'update');
  const listed = attachment.messages.map(({ id }: Json) => id);
  expect(listed).toHaveLength(50);
  expect(ids).toEqual(expect.arrayContaining(listed));
  const { attachments } = await member.ok('GET', '/attachments');
  expect(attachments[0].messages.map(({ id }: Json) => id)).toEqual(ids.slice(-50));
});

/** A user who mutes one topic, 600 further ones, and a topic named `zzz`; resolves to the event about the last one. */
async function muteMany(who: Client, furtherTopic: string): Promise<Json> {
  await who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'one' }] });
  const { stream_id } = await who.ok('GET', '/get_stream_id', { stream: 'one' });
  const mute = (topic: string) => who.ok('POST', '/user_topics', { stream_id, topic, visibility_policy: 1 });
  await mute('first');
  const where = `user_id = ${who.user_id}`;
  await copyRow({ table: 'messaging.user_topic', where }, 600, { topic: furtherTopic, topic_key: furtherTopic });
  const queue = await who.queue({ event_types: ['muted_topics'] });
  await mute('zzz');
  // A list is also sent when messaging has applied the subscription.
  return queue.next(({ muted_topics }) => muted_topics?.at(-1)?.[1] === 'zzz');
}
const listed = async (who: Client): Promise<Json> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['muted_topics'] })).muted_topics;

test('a muted_topics event contains at most the newest 500 mutes', async () => {
  const { member } = await openRealm();
  const { muted_topics } = await muteMany(member, "'copy ' || n");
  expect(muted_topics).toHaveLength(500);
  expect(await listed(member)).toEqual(muted_topics);
});

test('a muted_topics event contains at most 32 KiB of names of channels and topics, the newest', async () => {
  const { member } = await openRealm();
  const { muted_topics } = await muteMany(member, "'copy ' || repeat('ü', 96) || lpad(n::text, 3, '0')");
  // 6 bytes for the last mute, 8 for the first, and 203 for each other.
  expect(muted_topics).toHaveLength(2 + Math.floor((32 * 1024 - 6 - 8) / 203));
  expect(await listed(member)).toEqual(muted_topics);
});

test('the list of muted topics of a bot is empty, and its preferences have events', async () => {
  const realm = await openRealm();
  const [full_name, short_name] = ['Muter', 'muter'];
  const made = await realm.member.ok('POST', '/bots', { full_name, short_name });
  const bot = new Client(realm.member, { ...made, full_name, email: `${short_name}-bot@${realm.host}` });
  await bot.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'one' }] });
  const { stream_id } = await bot.ok('GET', '/get_stream_id', { stream: 'one' });
  const queue = await bot.queue({ event_types: ['user_topic', 'muted_topics'], fetch_event_types: [] });
  await bot.ok('POST', '/user_topics', { stream_id, topic: 'noise', visibility_policy: 1 });
  expect(await queue.next(({ type }) => type === 'user_topic')).toMatchObject({ topic_name: 'noise' });
  const { user_topics } = await bot.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  expect(user_topics.map(({ topic_name }: Json) => topic_name)).toEqual(['noise']);
  expect(await listed(bot)).toEqual([]);
});

test('a message that links files weighs one more for each ten links', async () => {
  const { member } = await openRealm();
  const { url } = (await uploadTo(member, '/user_uploads')).body;
  const weightOf = (links: number): Promise<number> =>
    withinOneWindow(async () => {
      const before = await left(member);
      await send(member, `[file](${url}) `.repeat(links));
      const after = await left(member);
      expect(after.reset).toBe(before.reset);
      // The second read has a weight of 1.
      return before.remaining - after.remaining - 1;
    });
  expect([await weightOf(9), await weightOf(100)]).toEqual([1, 11]);
});

test('the conversations of messages that become unread are stored once', async () => {
  const { id: realmId, member, owner } = await openRealm();
  const { id } = await owner.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'x' });
  for (const op of ['add', 'remove']) await member.ok('POST', '/messages/flags', { messages: [id], op, flag: 'read' });
  const stored = await connected(async (client) => {
    const { rows } = await client.query<{ event: string }>(
      `SELECT event::text AS event FROM log.event
        WHERE realm_id = $1 AND type = 'update_message_flags' ORDER BY number DESC LIMIT 1`,
      [realmId],
    );
    return rows[0]?.event ?? '';
  });
  expect(stored.match(/"message_details"/g)).toHaveLength(1);
});
