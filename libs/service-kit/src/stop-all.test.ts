import { expect, test } from 'vitest';
import { stopAll } from './stop-all.ts';

test('all parts stop taking work at once, even if the first ones take long or fail', async () => {
  const stopped: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const ending = stopAll([
    async () => {
      stopped.push('slow');
      await promise;
      isOver = true;
    },
    () => {
      stopped.push('failing');
      throw new Error('not stopped');
    },
    () => void stopped.push('last'),
  ]);
  expect(stopped).toEqual(['slow', 'failing', 'last']);
  resolve();
  await expect(ending).rejects.toThrow('not stopped');
  expect(isOver).toBe(true);
});
