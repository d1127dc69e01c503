import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { channel, nameOf } from '../channels/setting.ts';

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

const send = async (to: string | number = 'vault', who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic: 'gold', content: 'hello' })).id;

describe('in a private channel with protected history a later subscriber', () => {
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
  ])('can act only on messages that were sent after they subscribed: %s', async (_, act) => {
    expect((await act(latecomer, early)).status).toBe(400);
    expect((await act(latecomer, late)).status).toBe(200);
    expect((await act(realm.member2, early)).status).toBe(200);
  });

  test('moves only the messages of a topic that they can see', async () => {
    for (const id of [early, late]) await realm.member.ok('PATCH', `/messages/${id}`, { topic: 'bronze' });
    const queue = await realm.member2.queue();
    const { body } = await latecomer.patch(`/messages/${late}`, { topic: 'silver', propagate_mode: 'change_all' });
    expect(body.result).toBe('success');
    const { message_ids } = await queue.next(({ type }) => type === 'update_message');
    expect(message_ids).toContain(late);
    expect(message_ids).not.toContain(early);
  });

  test('does not receive events of changes to earlier messages', async () => {
    const queue = await latecomer.queue();
    await realm.member.ok('PATCH', `/messages/${early}`, { content: 'secret' });
    await realm.member.ok('POST', `/messages/${early}/reactions`, { emoji_name: 'tada' });
    await realm.member.ok('DELETE', `/messages/${early}`);
    const about = ({ type }: Json) => ['update_message', 'reaction', 'delete_message'].includes(type);
    expect((await queue.settle()).filter(about)).toEqual([]);
  });

  test('sees an older message that is moved there later', async () => {
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

describe('messages of a protected history', () => {
  let channelId: number;
  let deleter: Client;
  let before: number;
  beforeAll(async () => {
    const { owner, member, member2 } = realm;
    deleter = await realm.person();
    const principals = [member.user_id, member2.user_id];
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'archive' }],
      principals: [...principals, owner.user_id],
      invite_only: true,
      history_public_to_subscribers: false,
      can_delete_any_message_group: { direct_members: [...principals, deleter.user_id], direct_subgroups: [] },
    });
    channelId = (await member.ok('GET', '/get_stream_id', { stream: 'archive' })).stream_id;
    before = await send('archive');
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'archive' }],
      principals: [deleter.user_id, latecomer.user_id],
    });
  });

  const isDeletion = ({ type }: Json): boolean => type === 'delete_message';
  const deleteTopic = (who: Client) => who.ok('POST', `/streams/${channelId}/delete_topic`, { topic_name: 'gold' });

  test('do not send typing events of their edits to later subscribers', async () => {
    const [theirs, early] = [await latecomer.queue(), await realm.member2.queue()];
    await realm.member.ok('POST', `/messages/${before}/typing`, { op: 'start' });
    const isTyping = ({ type }: Json): boolean => type === 'typing_edit_message';
    expect((await early.next(isTyping)).message_id).toBe(before);
    expect((await theirs.settle()).filter(isTyping)).toEqual([]);
  });

  test('are not deleted with their topic by a later subscriber', async () => {
    const since = await send('archive');
    const queue = await realm.member2.queue({ client_capabilities: { bulk_message_deletion: true } });
    expect((await deleteTopic(deleter)).complete).toBe(true);
    expect((await queue.next(isDeletion)).message_ids).toEqual([since]);
    expect((await queue.settle()).filter(isDeletion)).toEqual([]);
    expect((await realm.member.get(`/messages/${before}`)).status).toBe(200);
    // No message remains that the deleter may see.
    expect((await deleteTopic(deleter)).complete).toBe(true);
    expect((await realm.member.get(`/messages/${before}`)).status).toBe(200);
  });

  test('do not send events of their deletion with a topic to later subscribers', async () => {
    const [theirs, early] = [await latecomer.queue(), await realm.member2.queue()];
    await deleteTopic(realm.member2);
    expect(await early.next(isDeletion)).toMatchObject({ message_id: before, topic: 'gold' });
    expect((await theirs.settle()).filter(isDeletion)).toEqual([]);
  });
});

test('a user from whom a move took a message does not get it back when they join the target', async () => {
  const { owner, member, member2 } = realm;
  const source = await channel(owner, [owner, member, member2]);
  const form = { invite_only: true, history_public_to_subscribers: false };
  const target = await channel(owner, [owner, member2], form);
  const id = await send(source, owner);
  await owner.ok('PATCH', `/messages/${id}`, { stream_id: target });
  const subscriptions = [{ name: await nameOf(owner, target) }];
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions, principals: [member.user_id] });
  const queue = await member.queue({ client_capabilities: { bulk_message_deletion: true } });
  await owner.ok('PATCH', `/messages/${id}`, { content: 'written after the move' });
  const listed = async (who: Client): Promise<boolean> => {
    const form = { anchor: 'newest', num_before: 100, num_after: 0, narrow: [['channel', target]] };
    return (await who.ok('GET', '/messages', form)).messages.some((message: Json) => message.id === id);
  };
  const statuses = (who: Client) =>
    Promise.all(
      ['', '/history', '/read_receipts'].map(async (path) => (await who.get(`/messages/${id}${path}`)).status),
    );
  expect([await listed(member), await statuses(member)]).toEqual([false, [400, 400, 400]]);
  expect([await listed(member2), await statuses(member2)]).toEqual([true, [200, 200, 200]]);
  expect((await queue.settle()).filter(({ type }) => type === 'update_message')).toEqual([]);
  // A move to a place where they are brings it back.
  await owner.ok('PATCH', `/messages/${id}`, { stream_id: source });
  expect(await statuses(member)).toEqual([200, 200, 200]);
});
