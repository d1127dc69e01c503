import { expect, test } from 'vitest';
import { badRequest, ChatError, refusedAs } from './error.ts';

test('an outage is never returned as the error for invisible objects', () => {
  const answerTo = (error: unknown): unknown => {
    try {
      return refusedAs(() => badRequest('Invalid message(s)'))(error);
    } catch (thrown) {
      return thrown;
    }
  };
  expect(answerTo(new ChatError('NOT_FOUND', 'secret'))).toMatchObject({ message: 'Invalid message(s)' });
  for (const outage of [new ChatError('SERVICE_UNAVAILABLE', 'away'), new Error('terminating connection'), 'thrown'])
    expect(answerTo(outage)).toBe(outage);
});

test('the text of an error is never much longer than its own words', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `channel ${index}`).join(', ');
  const { message } = badRequest(`Unable to access channel (${names}).`);
  expect(message).toHaveLength(1_000);
  expect(message).toMatch(/^Unable to access channel \(channel 0, channel 1, /);
  expect(badRequest(`${'x'.repeat(999)}\u{1f600}`).message).toBe('x'.repeat(999));
});
