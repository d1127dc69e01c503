import type { Executor } from '@natter/database';
import { expect, test } from 'vitest';
import { isWaiting, waitingEvents } from './waiting-events.ts';

const awaited = { consumer: 'periods', types: ['subscription'], matters: { 'subscription/add': () => true } };

/** Answers each read with a full page, of which consumers skip all events but so many. */
function fullPages(name: string, counted: number) {
  let reads = 0;
  const any = async () => [{ number: ++reads * 1_000, name, place: 1_000, counted }];
  return { executor: { any } as unknown as Executor, reads: () => reads };
}

test('the search ends after 10,000 events that do not matter, and later among events that consumers skip', async () => {
  const others = fullPages('subscription/peer_add', 1_000);
  expect([await waitingEvents(others.executor, 1, awaited), others.reads()]).toEqual([undefined, 10]);
  const skipped = fullPages('', 0);
  expect([await waitingEvents(skipped.executor, 1, awaited), skipped.reads()]).toEqual([undefined, 50]);
  expect(await isWaiting(fullPages('', 0).executor, 1, awaited)).toBe(true);
});

test('the search for any event ends at the first page with one', async () => {
  const added = fullPages('subscription/add', 1_000);
  expect([await isWaiting(added.executor, 1, awaited), added.reads()]).toEqual([true, 1]);
});
