import type { LoggedMessage, QueueRecord } from '@natter/contracts';
import { expect, test, vi } from 'vitest';
import { passesNarrow } from './narrow.ts';

const message = {
  type: 'stream',
  display_recipient: 'Design',
  subject: 'Übersicht',
  sender_email: 'Ada@example.com',
} as unknown as LoggedMessage;
const queueWith = (narrow: [string, string][], negated = false) =>
  ({ narrow: narrow.map(([operator, operand]) => ({ operator, operand, negated })) }) as unknown as QueueRecord;

test('the operands of a queue are prepared once, not for each message', () => {
  const queue = queueWith(
    Array.from({ length: 20 }, (_, index) => ['sender', `É${index}@example.com`]),
    true,
  );
  const lower = vi.spyOn(String.prototype, 'toLowerCase');
  try {
    expect(passesNarrow(queue, message, [])).toBe(true);
    const prepared = lower.mock.calls.length;
    for (let count = 0; count < 10; count++) passesNarrow({ ...queue }, message, []);
    expect(prepared).toBeLessThan(30);
    expect(lower.mock.calls.length - prepared).toBeLessThanOrEqual(3 * 10);
  } finally {
    lower.mockRestore();
  }
});

test.each([
  ['channel', 'DESIGN', true],
  ['stream', 'other', false],
  ['topic', 'ÜBERSICHT', true],
  ['topic', 'general chat', false],
  ['sender', 'ada@EXAMPLE.com', true],
  ['from', 'bob@example.com', false],
])('the term %s:%s compares without case', (operator, operand, expected) => {
  expect(passesNarrow(queueWith([[operator, operand]]), message, [])).toBe(expected);
  expect(passesNarrow(queueWith([[operator, operand]], true), message, [])).toBe(!expected);
});

test('the display names of the empty topic match it', () => {
  const empty = { ...message, subject: '' } as LoggedMessage;
  for (const name of ['General Chat', '(no topic)', ''])
    expect(passesNarrow(queueWith([['topic', name]]), empty, [])).toBe(true);
});
