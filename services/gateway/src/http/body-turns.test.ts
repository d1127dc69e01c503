import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
import { createBodyTurns } from './body-turns.ts';

afterEach(() => void vi.useRealTimers());

const tenant = (realmId: number, userId = 1) => ({ realmId, userId });
/** A clock that does not move: after the first part that received bytes, all other parts wait for a turn. */
const stoppedClock = () => 0;

test('a part of a realm waits for at most one part of another realm', async () => {
  const turns = createBodyTurns(stoppedClock);
  const order: number[] = [];
  const all = Array.from({ length: 50 }, (_, user) =>
    turns.run({ tenant: tenant(66, user), receivedBytes: 1 }, () => void order.push(66)),
  );
  expect([order.length, turns.waiting]).toEqual([1, 49]);
  all.push(turns.run({ tenant: tenant(1) }, () => void order.push(1)));
  await Promise.all(all);
  expect(order.indexOf(1)).toBeLessThanOrEqual(2);
  expect(order.length).toBe(51);
});

test('other events are served between any two parts', async () => {
  // The pauses have no length, so only the turns of the event loop separate the parts.
  const turns = createBodyTurns(stoppedClock);
  let isOver = false;
  let inARow = 0;
  let most = 0;
  const other = (): void => {
    inARow = 0;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const part = () => {
    most = Math.max(most, ++inARow);
  };
  await Promise.all(Array.from({ length: 100 }, () => turns.run({ tenant: tenant(1), receivedBytes: 1 }, part)));
  isOver = true;
  expect(most).toBeLessThanOrEqual(2);
});

test('parts take a third of the time while other parts wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  let time = 0;
  const turns = createBodyTurns(() => time);
  const starts: number[] = [];
  const all = Array.from({ length: 4 }, () =>
    turns.run({ tenant: tenant(1) }, () => {
      starts.push(time);
      time += 10;
    }),
  );
  while (turns.waiting > 0) {
    time += 1;
    await vi.advanceTimersByTimeAsync(1);
  }
  await Promise.all(all);
  const distances = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  for (const distance of distances) expect(distance).toBeGreaterThanOrEqual(30);
});

test('an error in a part reaches its caller, and the next part still runs', async () => {
  const turns = createBodyTurns(stoppedClock);
  const failing = () => {
    throw new Error('malformed');
  };
  const all = [failing, failing, () => 'parsed'].map((work) =>
    turns.run<string>({ tenant: tenant(1), receivedBytes: 1 }, work),
  );
  const [, second, third] = await Promise.allSettled(all);
  expect(second).toMatchObject({ status: 'rejected', reason: { message: 'malformed' } });
  expect(third).toEqual({ status: 'fulfilled', value: 'parsed' });
});

test('a part is not processed if its request ended while the part waited', async () => {
  const turns = createBodyTurns(stoppedClock);
  // The pause after this part takes 0.12 s.
  await turns.run({ tenant: tenant(1), receivedBytes: 2e7 }, () => undefined);
  let isProcessed = false;
  const late = withDeadline(5, () =>
    turns.run({ tenant: tenant(1) }, () => {
      isProcessed = true;
    }),
  );
  await expect(late).rejects.toThrow('not ready');
  await sleep(300);
  expect([isProcessed, turns.waiting]).toEqual([false, 0]);
});
