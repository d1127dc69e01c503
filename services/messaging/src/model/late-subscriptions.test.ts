import type { Executor } from '@natter/database';
import { expect, test } from 'vitest';
import { latePeriods, lateReceivers } from './late-subscriptions.ts';
import type { WaitingEvent } from './waiting-events.ts';

const [channel, other] = [7, 8];

/** Answers with these waiting events: whether users are added, the users, and the channels; the first one has the number 1. */
function waiting(...changes: [isAdded: boolean, users: number[], channels: number[]][]): Executor {
  const events = changes.map(([isAdded, users, channels], index) => ({
    number: index + 1,
    name: isAdded ? 'subscription/add' : 'subscription/remove',
    users,
    channels,
    place: index + 1,
  }));
  return { any: async () => events as unknown as WaitingEvent[] } as unknown as Executor;
}

test('late periods begin and end in the order of the events, each user and channel for itself', async () => {
  const executor = waiting(
    [true, [1, 2], [channel]],
    [false, [1, 3], [channel, other]],
    [true, [3], [channel]],
    [true, [4], [99]],
  );
  const found = await latePeriods(executor, 1, [channel, other], { applied: 0 });
  expect(found.map((one) => Object.values(one))).toEqual([
    [1, channel, 1, 2],
    [2, channel, 1, null],
    [3, channel, null, 2],
    [3, channel, 3, null],
    [1, other, null, 2],
    [3, other, null, 2],
  ]);
});

test('late receivers of a message are those who were subscribed last', async () => {
  const executor = waiting([true, [1, 2], [channel]], [false, [2, 3, 4], [channel]], [true, [4], [channel]]);
  const late = await lateReceivers(executor, 1, { id: 9, sent_channel_id: channel });
  expect(late).toEqual({ added: [1, 4], gone: [3, 4] });
  expect(await lateReceivers(executor, 1, { id: 9, sent_channel_id: null })).toEqual({ added: [], gone: [] });
});
