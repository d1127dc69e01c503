import type { Client } from '@natter/client';
import { expect, test } from 'vitest';
import { topicPlace } from '../state/place.ts';
import { MessageActions } from './message-actions.ts';

test('more messages than a request may name are marked as read with several requests', async () => {
  const requests: number[][] = [];
  const updateFlags = async ({ messages }: { messages: number[] }) => void requests.push(messages);
  const actions = new MessageActions({ updateFlags } as unknown as Client, () => undefined);
  const ids = Array.from({ length: 12_000 }, (_, index) => index + 1);
  await actions.markRead(ids);
  expect(requests.map(({ length }) => length)).toEqual([5_000, 5_000, 2_000]);
  expect(requests.flat().sort((a, b) => a - b)).toEqual(ids);
});

test('all later messages become unread, if a request changes only a part of them', async () => {
  const newest = 9_000;
  const changed: number[] = [];
  const updateFlagsForNarrow = async (given: { anchor: number; include_anchor: boolean; num_after: number }) => {
    const first = given.anchor + (given.include_anchor ? 0 : 1);
    const last = Math.min(newest, given.anchor + given.num_after);
    for (let id = first; id <= last; id++) changed.push(id);
    return { last_processed_id: last, found_newest: last === newest };
  };
  const actions = new MessageActions({ updateFlagsForNarrow } as unknown as Client, () => undefined);
  expect(await actions.markUnreadFrom({ kind: 'channel', channelId: 6 }, 11)).toBe(true);
  expect([changed.length, changed[0], changed.at(-1)]).toEqual([newest - 10, 11, newest]);
});

test('the newest messages of a topic come first, and the first that was not deleted is found', async () => {
  let there = [3, 5, 8];
  const getMessages = async ({ message_ids = there }: { message_ids?: number[] }) => ({
    messages: there.filter((id) => message_ids.includes(id)).map((id) => ({ id })),
  });
  const actions = new MessageActions({ getMessages } as unknown as Client, () => undefined);
  const place = topicPlace(6, 'lunch');
  const newest = await actions.newestOf(place, 20);
  expect([newest, await actions.firstLeft(newest)]).toEqual([[8, 5, 3], 8]);
  there = [3, 9];
  expect(await actions.firstLeft(newest)).toBe(3);
  there = [];
  expect(await actions.firstLeft(newest)).toBeUndefined();
  await expect(actions.newestOf(place, 20)).rejects.toThrow('This topic has no messages.');
});
