import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let channelId: number;
beforeAll(async () => {
  realm = await openRealm();
  for (const who of [realm.member, realm.member2])
    await who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  channelId = (await realm.member.ok('GET', '/get_stream_id', { stream: 'open' })).stream_id;
});

const send = async (topic = 'x', who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: 'open', topic, content: 'hello' })).id;
const isDeletion = ({ type }: Json): boolean => type === 'delete_message';
const bulk = { client_capabilities: { bulk_message_deletion: true } };

describe('deleting a message', () => {
  test('sends an event to all users who have it, in the form that each client supports', async () => {
    const id = await send('lunch');
    const [old, capable] = [await realm.member2.queue(), await realm.member2.queue(bulk)];
    await realm.member.ok('DELETE', `/messages/${id}`);
    const [single, many] = [await old.next(isDeletion), await capable.next(isDeletion)];
    expect(single).toMatchObject({ message_type: 'stream', message_id: id, stream_id: channelId, topic: 'lunch' });
    expect(single).not.toHaveProperty('message_ids');
    expect(many).toMatchObject({ message_type: 'stream', message_ids: [id], stream_id: channelId, topic: 'lunch' });
    expect(many).not.toHaveProperty('message_id');
  });

  test('is permanent', async () => {
    const id = await send();
    await realm.member.ok('DELETE', `/messages/${id}`);
    for (const again of [
      await realm.member.delete(`/messages/${id}`),
      await realm.member.get(`/messages/${id}/history`),
      await realm.member.post(`/messages/${id}/reactions`, { emoji_name: 'smile' }),
    ])
      expect([again.status, again.body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of another user requires an administrator', async () => {
    const id = await send();
    for (const who of [realm.member2, realm.moderator]) {
      const { status, body } = await who.delete(`/messages/${id}`);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect((await realm.administrator.delete(`/messages/${id}`)).status).toBe(200);
  });

  test('of a direct conversation sends an event to its participants only', async () => {
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    const [theirs, other] = [await realm.member2.queue(), await realm.owner.queue()];
    await realm.member.ok('DELETE', `/messages/${id}`);
    const event = await theirs.next(isDeletion);
    expect(event).toMatchObject({ message_type: 'private', message_id: id });
    expect(event).not.toHaveProperty('stream_id');
    expect((await other.settle()).filter(isDeletion)).toEqual([]);
  });

  test('that the user may not read returns the same error as for a missing one', async () => {
    const form = { type: 'direct', to: [realm.administrator.user_id], content: 'secret' };
    const { id } = await realm.owner.ok('POST', '/messages', form);
    const [hidden, none] = [
      await realm.member.delete(`/messages/${id}`),
      await realm.member.delete('/messages/90000000'),
    ];
    expect([hidden.status, hidden.body]).toEqual([400, none.body]);
  });
});

describe('deleting a topic', () => {
  test('deletes its messages in any case of the name, and no other messages', async () => {
    const ids = [await send('party'), await send('Party'), await send('party')];
    const kept = await send('partying');
    const [old, capable] = [await realm.member2.queue(), await realm.member2.queue(bulk)];
    const answer = await realm.administrator.ok('POST', `/streams/${channelId}/delete_topic`, { topic_name: 'party' });
    expect(answer.complete).toBe(true);
    expect((await capable.next(isDeletion)).message_ids).toEqual(ids);
    await old.next((event) => isDeletion(event) && event.message_id === ids[2]);
    expect(old.seen.filter(isDeletion).map(({ message_id }) => message_id)).toEqual(ids);
    expect((await capable.settle()).filter(isDeletion)).toEqual([]);
    expect((await realm.member.get(`/messages/${kept}/history`)).status).toBe(200);
  });

  test('requires permission to delete any message', async () => {
    await send('mine');
    const { status, body } = await realm.member.post(`/streams/${channelId}/delete_topic`, { topic_name: 'mine' });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('in a missing channel is rejected', async () => {
    const { status, body } = await realm.owner.post('/streams/999999/delete_topic', { topic_name: 'x' });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
