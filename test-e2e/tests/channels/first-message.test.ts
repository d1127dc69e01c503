import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { overlapping } from '../../overlapping.ts';

let realm: Realm;
let from: number;
let to: number;
const make = async (name: string): Promise<number> => {
  const subscribers = [realm.owner.user_id, realm.member.user_id];
  return (await realm.owner.ok('POST', '/channels/create', { name, subscribers })).id;
};
beforeAll(async () => {
  realm = await openRealm();
  // Channel events would add messages of a bot.
  await realm.owner.ok('PATCH', '/realm', { send_channel_events_messages: false });
  from = await make('from');
  to = await make('to');
});

const send = async (stream_id: number, content: string): Promise<number> =>
  (await realm.owner.ok('POST', '/messages', { type: 'channel', to: stream_id, topic: 'a', content })).id;
const firstOf = async (stream_id: number): Promise<number | null> =>
  (await realm.member.ok('GET', `/streams/${stream_id}`)).stream.first_message_id;

test('first_message_id follows deletions and moves, and each change sends an event', async () => {
  const queue = await realm.member.queue({ event_types: ['stream'] });
  const told = (stream_id: number, value: number | null): Promise<Json> =>
    queue.next(
      (event) => event.stream_id === stream_id && event.property === 'first_message_id' && event.value === value,
    );
  const ids = [await send(from, 'one'), await send(from, 'two'), await send(from, 'three')] as const;
  await told(from, ids[0]);
  await realm.owner.ok('DELETE', `/messages/${ids[0]}`);
  await told(from, ids[1]);
  expect(await firstOf(from)).toBe(ids[1]);
  // Removing another message than the first changes nothing.
  const more = await send(from, 'four');
  await realm.owner.ok('DELETE', `/messages/${ids[2]}`);
  expect(await firstOf(from)).toBe(ids[1]);
  const there = await send(to, 'there');
  expect(await firstOf(to)).toBe(there);
  await realm.owner.ok('PATCH', `/messages/${ids[1]}`, {
    stream_id: to,
    send_notification_to_new_thread: false,
    send_notification_to_old_thread: false,
  });
  await told(to, ids[1]);
  expect(queue.seen.some((event) => event.stream_id === from && event.value === more)).toBe(true);
  expect([await firstOf(from), await firstOf(to)]).toEqual([more, ids[1]]);
  await realm.owner.ok('DELETE', `/messages/${more}`);
  await told(from, null);
  expect(await firstOf(from)).toBeNull();
  const again = await send(from, 'again');
  expect(await firstOf(from)).toBe(again);
});

test('a deletion during a move into the channel does not announce a later message as the first', async () => {
  const { owner } = realm;
  const [source, target] = [await make('source'), await make('target')];
  const [older, first, second] = [await send(source, 'a'), await send(target, 'b'), await send(target, 'c')];
  // Then no consumer of these messages waits below.
  await expect.poll(async () => [await firstOf(source), await firstOf(target)]).toEqual([older, first]);
  await overlapping(realm.id, [
    () => owner.ok('PATCH', `/messages/${older}`, { stream_id: target, send_notification_to_new_thread: false }),
    () => owner.ok('DELETE', `/messages/${first}`),
  ]);
  expect(older).toBeLessThan(second);
  // The events of both changes have been consumed if that of a later message has.
  const last = await send(source, 'd');
  await expect.poll(() => firstOf(source)).toBe(last);
  expect(await firstOf(target)).toBe(older);
});
