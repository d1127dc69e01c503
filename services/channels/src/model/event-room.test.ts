import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { afterEach, expect, test, vi } from 'vitest';
import { to } from './audience.ts';
import { announce, hasEventRoom, isCrowded } from './event-room.ts';

afterEach(() => {
  vi.useRealTimers();
});

function unit(isConsumer: boolean): Work {
  const events: LogEvent[] = [];
  const work: Partial<Work> = { isConsumer, emitted: () => events.length, emit: (event) => events.push(event) - 1 };
  return work as Work;
}

/** Emits events for these users while there is room. Returns their number. */
function fill(work: Work, users: readonly number[], importance: 'high' | 'low'): number {
  const audience = to(users);
  while (hasEventRoom(work, importance))
    announce(work, { type: 'stream', op: 'delete', body: { streams: [], stream_ids: [] }, audience });
  return work.emitted();
}

const event: LogEvent = { type: 'stream', op: 'delete', body: { streams: [], stream_ids: [] }, audience: to([1]) };
const sparse = Array.from({ length: 20_000 }, (_, index) => index * 1_000);

test('less important announcements leave room for the others', () => {
  const work = unit(true);
  expect(fill(work, [1], 'low')).toBe(15_000);
  expect(fill(work, [1], 'high')).toBe(20_000);
});

test('audiences of many users need more room', () => {
  const work = unit(true);
  const bytes = sparse.length * 8;
  expect(fill(work, sparse, 'low') * bytes).toBeLessThan(24 * 1024 * 1024 + bytes);
  expect(fill(work, sparse, 'high') * bytes).toBeLessThan(32 * 1024 * 1024 + bytes);
  const dense = sparse.map((_, index) => index);
  expect(fill(unit(true), dense, 'high')).toBeGreaterThan(5_000);
});

test('a unit with many announcements announces nothing more when its deadline is near, and a small one does after a stall', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [work, small] = [unit(true), unit(true)];
  for (let count = 0; count < 1_000; count++) announce(work, event);
  announce(small, event);
  expect([hasEventRoom(work, 'low'), isCrowded(work)]).toEqual([true, false]);
  vi.advanceTimersByTime(2_000);
  expect([hasEventRoom(work, 'low'), isCrowded(work)]).toEqual([true, true]);
  vi.advanceTimersByTime(13_000);
  expect([hasEventRoom(work), hasEventRoom(small, 'low')]).toEqual([false, true]);
});

test('a unit handles no further event after many announcements, or announcements to many users', () => {
  const one = unit(true);
  for (let count = 0; count < 2_000; count++) announce(one, event);
  expect(isCrowded(one)).toBe(false);
  announce(one, event);
  expect(isCrowded(one)).toBe(true);
  const other = unit(true);
  for (let count = 0; count < 30; count++) announce(other, { ...event, audience: to(sparse) });
  expect(isCrowded(other)).toBe(true);
});

test('a request is not limited here', () => {
  const work = unit(false);
  for (let count = 0; count < 300; count++)
    announce(work, { type: 'stream', op: 'delete', body: { streams: [], stream_ids: [] }, audience: to(sparse) });
  expect(hasEventRoom(work, 'low')).toBe(true);
});
