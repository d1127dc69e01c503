import { expect, test } from 'vitest';
import { createLine } from './line.ts';

test('no more tasks run at once than allowed, in order; one too many for the line is refused, and failures free a place', async () => {
  const line = createLine(2, 3);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const task = (index: number) =>
    line(async () => {
      running++;
      most = Math.max(most, running);
      order.push(index);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (index === 1) throw new Error('failed');
      return index;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map(task));
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
  ]);
  expect(results[5]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE' } });
  expect([most, order]).toEqual([2, [0, 1, 2, 3, 4]]);
  expect(await line(async () => 'free')).toBe('free');
});
