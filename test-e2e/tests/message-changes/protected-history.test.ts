import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let latecomer: Client;
let early: number;
let late: number;
beforeAll(async () => {
  realm = await openRealm();
  latecomer = await realm.person();
  await realm.member.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'vault' }],
    principals: [realm.member.user_id, realm.member2.user_id],
    invite_only: true,
    history_public_to_subscribers: false,
  });
  early = await send();
  await realm.member.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'vault' }],
    principals: [latecomer.user_id],
  });
  late = await send();
});

const send = async (channel = 'vault', who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: channel, topic: 'gold', content: 'hello' })).id;

describe('in a private channel with protected history a latecomer', () => {
  test.each<[string, (who: Client, id: number) => Promise<{ status: number }>]>([
    ['reads the history', (who, id) => who.get(`/messages/${id}/history`)],
    ['moves', (who, id) => who.patch(`/messages/${id}`, { topic: `gold ${Math.random()}` })],
    ['reacts', (who, id) => who.post(`/messages/${id}/reactions`, { emoji_name: 'smile' })],
    ['sees who read', (who, id) => who.get(`/messages/${id}/read_receipts`)],
    [
      'is reminded of',
      (who, id) =>
        who.post('/reminders', { message_id: id, scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 600 }),
    ],
  ])('%s only what was sent since they came', async (_, act) => {
    expect((await act(latecomer, early)).status).toBe(400);
    expect((await act(latecomer, late)).status).toBe(200);
    expect((await act(realm.member2, early)).status).toBe(200);
  });

  test('moves with a whole topic only what they see of it', async () => {
    for (const id of [early, late]) await realm.member.ok('PATCH', `/messages/${id}`, { topic: 'bronze' });
    const queue = await realm.member2.queue();
    const { body } = await latecomer.patch(`/messages/${late}`, { topic: 'silver', propagate_mode: 'change_all' });
    expect(body.result).toBe('success');
    const { message_ids } = await queue.next(({ type }) => type === 'update_message');
    expect(message_ids).toContain(late);
    expect(message_ids).not.toContain(early);
  });

  test('hears nothing of changes to what was before them', async () => {
    const queue = await latecomer.queue();
    await realm.member.ok('PATCH', `/messages/${early}`, { content: 'secret' });
    await realm.member.ok('POST', `/messages/${early}/reactions`, { emoji_name: 'tada' });
    await realm.member.ok('DELETE', `/messages/${early}`);
    const about = ({ type }: Json) => ['update_message', 'reaction', 'delete_message'].includes(type);
    expect((await queue.settle()).filter(about)).toEqual([]);
  });

  test('sees what is moved there afterwards, though it was sent before', async () => {
    await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'street' }] });
    const { stream_id } = await realm.member.ok('GET', '/get_stream_id', { stream: 'vault' });
    const id = await send('street');
    const last = await realm.person();
    await realm.member.ok('PATCH', `/messages/${id}`, { stream_id });
    expect((await latecomer.get(`/messages/${id}/history`)).status).toBe(200);
    await realm.member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'vault' }],
      principals: [last.user_id],
    });
    expect((await last.get(`/messages/${id}/history`)).status).toBe(400);
    const idsFor = async (who: Client) =>
      (
        await who.ok('GET', '/messages', {
          anchor: 'newest',
          num_before: 100,
          num_after: 0,
          narrow: [{ operator: 'channel', operand: 'vault' }],
        })
      ).messages.map((message: Json) => message.id);
    expect(await idsFor(latecomer)).toContain(id);
    expect(await idsFor(last)).not.toContain(id);
  });
});
