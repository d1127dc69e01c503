import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';
import { createLanes } from './lanes.ts';

const step = () => new Promise((resolve) => setImmediate(resolve));

test('work of a key runs one after the other, in the order in which it came', async () => {
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

test('work that gives up waiting lets nobody in before the work that runs has ended', async () => {
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

test('work is told whether other work waits', async () => {
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
