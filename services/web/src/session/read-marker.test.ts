import { ApiError, type Client } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { markAsRead } from './mark-as-read.ts';
import { ReadMarker } from './read-marker.ts';

afterEach(() => void vi.useRealTimers());

/** A server that refuses a list if it has none of some messages, as Natter does. */
function serverWithout(...gone: number[]) {
  const read = new Set<number>();
  const requests: number[][] = [];
  const client = {
    updateFlags: async ({ messages }: { messages: number[] }) => {
      requests.push(messages);
      if (messages.some((id) => gone.includes(id))) throw new ApiError(400, { msg: 'Invalid message(s)' });
      for (const id of messages) read.add(id);
    },
  } as unknown as Client;
  return { client, read, requests };
}
const ids = Array.from({ length: 20 }, (_, index) => index + 1);

test('messages that are gone do not keep others unread', async () => {
  for (const gone of [[], [1], [20], [7, 8], ids.slice(1)]) {
    const { client, read, requests } = serverWithout(...gone);
    await markAsRead(client, ids);
    expect([...read]).toEqual(ids.filter((id) => !gone.includes(id)));
    expect(requests.length).toBeLessThan(2 * ids.length);
  }
});

test('another refusal is an error, and is not repeated for parts of the list', async () => {
  const requests: unknown[] = [];
  const client = {
    updateFlags: async (params: unknown) => {
      requests.push(params);
      throw new ApiError(401, { msg: 'Not logged in' });
    },
  } as unknown as Client;
  await expect(markAsRead(client, ids)).rejects.toThrow('Not logged in');
  expect(requests).toHaveLength(1);
});

test('a message that was deleted after it was seen is not marked', async () => {
  vi.useFakeTimers();
  const { client, read, requests } = serverWithout(2);
  const known = new Set([1, 2, 3]);
  const shown: number[] = [];
  const marker = new ReadMarker(client, { isKnown: (id) => known.has(id), onRead: (some) => shown.push(...some) });
  marker.seen([1, 2, 3]);
  known.delete(2);
  await vi.runAllTimersAsync();
  expect([shown, [...read], requests]).toEqual([[1, 3], [1, 3], [[1, 3]]]);
});
