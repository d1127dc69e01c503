import type { Json, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { overlapping } from '../../overlapping.ts';
import { channel, openQuietRealm } from './setting.ts';

let realm: Realm;
let from: number;
let to: number;
const make = (): Promise<number> => channel(realm.owner, [realm.owner, realm.member]);
beforeAll(async () => {
  realm = await openQuietRealm();
  [from, to] = [await make(), await make()];
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
  await expect.poll(() => firstOf(to)).toBe(there);
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
  await expect.poll(() => firstOf(from)).toBe(again);
});

test('a deletion during a move into the channel does not announce a later message as the first', async () => {
  const { owner } = realm;
  let [source, target, older, second] = [0, 0, 0, 0];
  await overlapping(realm.id, async () => {
    [source, target] = [await make(), await make()];
    older = await send(source, 'a');
    const first = await send(target, 'b');
    second = await send(target, 'c');
    // Waits until the consumer has applied the messages, so that it does not wait for a lock below.
    await expect.poll(async () => [await firstOf(source), await firstOf(target)]).toEqual([older, first]);
    return [
      () => owner.ok('PATCH', `/messages/${older}`, { stream_id: target, send_notification_to_new_thread: false }),
      () => owner.ok('DELETE', `/messages/${first}`),
    ];
  });
  expect(older).toBeLessThan(second);
  // The events of both changes have been consumed if that of a later message has.
  const last = await send(source, 'd');
  await expect.poll(() => firstOf(source)).toBe(last);
  expect(await firstOf(target)).toBe(older);
});

test('a message that is sent during the deletion of the only one becomes the first', async () => {
  let [emptied, sent] = [0, 0];
  await overlapping(realm.id, async () => {
    emptied = await make();
    const only = await send(emptied, 'a');
    await expect.poll(() => firstOf(emptied)).toBe(only);
    return [
      async () => {
        sent = await send(emptied, 'b');
      },
      async () => void (await realm.owner.ok('DELETE', `/messages/${only}`)),
    ];
  });
  // The events of both changes have been consumed if that of a later message has.
  const later = await make();
  const last = await send(later, 'c');
  await expect.poll(() => firstOf(later)).toBe(last);
  expect(await firstOf(emptied)).toBe(sent);
});
