import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';
import { createLanes } from './lanes.ts';

const step = () => new Promise((resolve) => setImmediate(resolve));

test('work with the same key runs one at a time, in order of arrival', async () => {
  const order: string[] = [];
  const inLane = createLanes();
  const work = (name: string) =>
    inLane('a', async () => {
      order.push(`${name} begins`);
      await step();
      order.push(`${name} ends`);
    });
  await Promise.all(['1', '2', '3'].map(work));
  expect(order).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
});

test('work that stops waiting does not let other work start before the running work has ended', async () => {
  const emptied: string[] = [];
  const inLane = createLanes((key) => emptied.push(key));
  let running = 0;
  let release: () => void = () => undefined;
  const first = inLane('a', async () => {
    running++;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    running--;
  });
  await expect(withDeadline(5, () => inLane('a', async () => 'never'))).rejects.toThrow();
  let seen = -1;
  const third = inLane('a', async () => {
    seen = running;
  });
  await step();
  expect([seen, emptied]).toEqual([-1, []]);
  release();
  await Promise.all([first, third]);
  expect([seen, emptied]).toEqual([0, ['a']]);
});

test('running work can check whether other work waits', async () => {
  const inLane = createLanes();
  const seen: boolean[] = [];
  const work = () =>
    inLane('a', async (hasNext) => {
      await step();
      seen.push(hasNext());
    });
  await Promise.all([work(), work()]);
  expect(seen).toEqual([true, false]);
});
