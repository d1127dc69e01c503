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
