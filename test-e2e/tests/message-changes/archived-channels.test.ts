import { type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('messages of an archived channel can be read, but not changed until the channel is restored', async () => {
  const { owner } = await openRealm();
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'closed' }, { name: 'other' }] });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'closed' });
  const other = await owner.ok('GET', '/get_stream_id', { stream: 'other' });
  const send = async (content: string): Promise<number> =>
    (await owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'a', content })).id;
  const [id, poll] = [await send('before'), await send('/poll Which?\nThis\nThat')];
  await owner.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
  const vote = JSON.stringify({ type: 'vote', key: 'canned,0', vote: 1 });
  const changes: (() => Promise<{ status: number; body: Json }>)[] = [
    () => owner.patch(`/messages/${id}`, { content: 'after' }),
    () => owner.patch(`/messages/${id}`, { topic: 'b' }),
    () => owner.patch(`/messages/${id}`, { stream_id: other.stream_id }),
    () => owner.post(`/messages/${id}/reactions`, { emoji_name: 'heart' }),
    () => owner.delete(`/messages/${id}/reactions`, { emoji_name: 'tada' }),
    () => owner.post('/submessage', { message_id: poll, msg_type: 'widget', content: vote }),
    () => owner.post(`/messages/${id}/typing`, { op: 'start' }),
    () => owner.delete(`/messages/${id}`),
  ];
  await owner.ok('DELETE', `/streams/${stream_id}`);
  const queue = await owner.queue();
  for (const change of changes) {
    const { status, body } = await change();
    expect([status, body.msg]).toEqual([400, 'Invalid message(s)']);
  }
  const ofChannel: typeof changes = [
    () => owner.post('/typing', { type: 'channel', op: 'start', stream_id, topic: 'a' }),
    () => owner.post(`/streams/${stream_id}/delete_topic`, { topic_name: 'a' }),
  ];
  for (const change of ofChannel) {
    const { status, body } = await change();
    expect([status, body.msg]).toEqual([400, 'Invalid channel ID']);
  }
  const kinds = ['typing', 'update_message', 'reaction', 'submessage', 'delete_message', 'typing_edit_message'];
  expect((await queue.settle()).filter(({ type }) => kinds.includes(type))).toEqual([]);
  const { message } = await owner.ok('GET', `/messages/${id}`, { apply_markdown: false });
  expect([message.content, message.subject, message.reactions.length]).toEqual(['before', 'a', 1]);
  await owner.ok('PATCH', `/streams/${stream_id}`, { is_archived: false });
  for (const change of [...changes, ...ofChannel]) expect((await change()).status).toBe(200);
});
