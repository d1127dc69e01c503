import { expect, test } from 'vitest';
import { inBatches } from './in-batches.ts';

test('a sweep ends after the first batch that is not full', async () => {
  const changed = [5, 5, 3, 5];
  let count = 0;
  await inBatches(
    5,
    () => false,
    async () => changed[count++] ?? 0,
  );
  expect(count).toBe(3);
});

test('a sweep with much to do ends when the process is stopping', async () => {
  let count = 0;
  const isStopped = (): boolean => count === 2;
  await inBatches(5, isStopped, async () => {
    if (++count > 2) throw new Error('it goes on');
    return 5;
  });
  expect(count).toBe(2);
});
