import type { Client } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { ReadMarker } from './read-marker.ts';

afterEach(() => void vi.useRealTimers());

test('a message that was deleted after it was seen is not marked', async () => {
  vi.useFakeTimers();
  const requests: number[][] = [];
  const updateFlags = async ({ messages }: { messages: number[] }) => void requests.push(messages);
  const client = { updateFlags } as unknown as Client;
  const known = new Set([1, 2, 3]);
  const shown: number[] = [];
  const marker = new ReadMarker(client, { isKnown: (id) => known.has(id), onRead: (some) => shown.push(...some) });
  marker.seen([1, 2, 3]);
  known.delete(2);
  await vi.runAllTimersAsync();
  expect([shown, requests]).toEqual([[1, 3], [[1, 3]]]);
});
