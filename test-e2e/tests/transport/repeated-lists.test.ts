import { type Client, copyRow, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { uploadTo } from '../upload.ts';

const send = async (member: Client, content: string): Promise<number> =>
  (await member.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content })).id;

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

test('a muted_topics event contains at most the newest 500 mutes', async () => {
  const { member } = await openRealm();
  await member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'one' }] });
  const { stream_id } = await member.ok('GET', '/get_stream_id', { stream: 'one' });
  const mute = (topic: string) => member.ok('POST', '/user_topics', { stream_id, topic, visibility_policy: 1 });
  await mute('first');
  await copyRow({ table: 'messaging.user_topic', where: `user_id = ${member.user_id}` }, 600, {
    topic: "'copy ' || n",
    topic_key: "'copy ' || n",
  });
  const queue = await member.queue({ event_types: ['muted_topics'] });
  await mute('zzz');
  const { muted_topics } = await queue.next(({ type }) => type === 'muted_topics');
  expect(muted_topics).toHaveLength(500);
  expect(muted_topics.at(-1)[1]).toBe('zzz');
});
