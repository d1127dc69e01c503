import { currentDeadline, untilDeadline, withDeadline } from '@natter/database';
import { expect, test } from 'vitest';
import { createSharedCalls } from './shared-calls.ts';

test('a request that is cancelled does not end the work that others have joined', async () => {
  const shared = createSharedCalls<string, number>();
  let answer: (value: number) => void = () => undefined;
  let runs = 0;
  const work = () => {
    runs++;
    return untilDeadline(
      new Promise<number>((resolve) => {
        answer = resolve;
      }),
    );
  };
  const first = withDeadline(60_000, (deadline) => {
    const waiting = shared('key', work);
    deadline.cancel();
    return waiting;
  });
  const others = [shared('key', work), withDeadline(60_000, () => shared('key', work))];
  await expect(first).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  answer(5);
  expect([await Promise.all(others), runs]).toEqual([[5, 5], 1]);
});

test('work runs again after it ended or failed, and does not have the deadline of a request', async () => {
  const shared = createSharedCalls<string, unknown>();
  const failing = () => shared('key', () => Promise.reject(new Error('away')));
  for (let attempt = 0; attempt < 2; attempt++) await expect(failing()).rejects.toThrow('away');
  expect(await withDeadline(60_000, () => shared('key', async () => currentDeadline()))).toBeUndefined();
});
