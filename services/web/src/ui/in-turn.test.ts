import { expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';

test('calls during a run share one more run, which begins after it', async () => {
  const ends: (() => void)[] = [];
  const load = inTurn(() => new Promise((end) => ends.push(end)));
  const first = load();
  await expect.poll(() => ends.length).toBe(1);
  const [second, third] = [load(), load()];
  ends[0]?.();
  await first;
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await Promise.all([second, third]);
  expect(ends.length).toBe(2);
});

test('work that failed runs again', async () => {
  let runs = 0;
  const load = inTurn(() => (++runs === 1 ? Promise.reject(new Error('gone')) : Promise.resolve()));
  await expect(load()).rejects.toThrow('gone');
  await load();
  expect(runs).toBe(2);
});
