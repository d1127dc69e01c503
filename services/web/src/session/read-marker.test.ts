import type { Client } from '@natter/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadMarker } from './read-marker.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A client whose requests are answered after some time. */
function recorder(answerMs = 0) {
  const requests: number[][] = [];
  const updateFlags = ({ messages }: { messages: number[] }) => {
    requests.push(messages);
    return new Promise<void>((answered) => setTimeout(answered, answerMs));
  };
  return { requests, client: { updateFlags } as unknown as Client };
}

function setUp(answerMs?: number) {
  const [usual, parting] = [recorder(answerMs), recorder()];
  const shown: number[] = [];
  const gone = new Set<number>();
  const screen = { isKnown: (id: number) => !gone.has(id), onRead: (some: readonly number[]) => shown.push(...some) };
  const marker = new ReadMarker({ client: usual.client, parting: parting.client }, screen);
  return { marker, requests: usual.requests, parting: parting.requests, shown, gone };
}

test('a message that was deleted after it was seen is not marked', async () => {
  const { marker, requests, shown, gone } = setUp();
  marker.seen([1, 2, 3]);
  gone.add(2);
  await vi.runAllTimersAsync();
  expect([shown, requests]).toEqual([[1, 3], [[1, 3]]]);
});

test('the first message is marked at once, and those that keep arriving every two seconds', async () => {
  const { marker, requests } = setUp();
  const ids = Array.from({ length: 300 }, (_, id) => id);
  for (const id of ids) {
    marker.seen([id]);
    await vi.advanceTimersByTimeAsync(200);
    if (id === 0) expect(requests).toEqual([[0]]);
  }
  await vi.runAllTimersAsync();
  expect(requests.flat()).toEqual(ids);
  expect(requests.length).toBeLessThanOrEqual(31);
  await vi.advanceTimersByTimeAsync(5_000);
  marker.seen([1_000]);
  await vi.advanceTimersByTimeAsync(1);
  expect(requests.at(-1)).toEqual([1_000]);
});

test('nothing is sent while a request is not answered', async () => {
  const { marker, requests } = setUp(10_000);
  marker.seen([1]);
  await vi.advanceTimersByTimeAsync(1);
  marker.seen([2]);
  await vi.advanceTimersByTimeAsync(9_000);
  marker.seen([3]);
  expect(requests).toEqual([[1]]);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(requests).toEqual([[1], [2, 3]]);
});

test('a page that goes sends what is left and what is not answered yet', async () => {
  const { marker, requests, parting } = setUp(10_000);
  marker.leave();
  expect(parting).toEqual([]);
  marker.seen([1]);
  await vi.advanceTimersByTimeAsync(1);
  marker.seen([2]);
  marker.leave();
  expect([requests, parting]).toEqual([[[1]], [[1, 2]]]);
  await vi.runAllTimersAsync();
  marker.seen([3]);
  marker.leave();
  expect(parting).toEqual([[1, 2], [3]]);
  await vi.runAllTimersAsync();
  expect(requests).toEqual([[1]]);
});

test('messages that the reader marks as unread are not sent any more', async () => {
  const { marker, requests, parting } = setUp(10_000);
  marker.seen([1]);
  await vi.advanceTimersByTimeAsync(1);
  marker.seen([2]);
  marker.keepUnread();
  marker.leave();
  await vi.runAllTimersAsync();
  expect([requests, parting]).toEqual([[[1]], []]);
});
