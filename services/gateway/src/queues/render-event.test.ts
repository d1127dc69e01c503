import type { LogEntry, QueueRecord } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createEventTexts } from './event-texts.ts';
import { renderFor } from './render-event.ts';

const hourMs = 3_600_000;
const texts = createEventTexts(1_000_000);
const queueFrom = (created_at: number): QueueRecord =>
  ({ queue_id: 'q', user_id: 7, start: 3, created_at, event_types: null, capabilities: {} }) as unknown as QueueRecord;

/** Whether a queue receives an ephemeral event that is sent at a time, and received then. */
const isReceived = (queue: QueueRecord, type: string, at: number, now = at): boolean => {
  const event = { type, body: {}, audience: { users: { ids: [7] } } } as unknown as LogEntry['event'];
  const entry = { number: 3, n: 1, mark: 3, previousMark: 3, at, event };
  return renderFor(texts, queue, entry, () => now) !== undefined;
};

test.each(['typing', 'presence'])('a queue receives %s events after the clock was set back', (type) => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  const queue = queueFrom(now + hourMs);
  for (const later of [0, 1_000, hourMs / 2, hourMs, 2 * hourMs])
    expect([later, isReceived(queue, type, now + later)]).toEqual([later, true]);
});

test.each(['typing', 'presence'])('a queue receives no %s events from before its start', (type) => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  expect(isReceived(queueFrom(now), type, now - 1, now)).toBe(false);
  // The gateway may be a little behind the service that opened the queue.
  expect(isReceived(queueFrom(now + 500), type, now - 1, now)).toBe(false);
  expect(isReceived(queueFrom(now), type, now)).toBe(true);
});
