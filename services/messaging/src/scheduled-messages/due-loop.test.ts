import type { Database } from '@natter/database';
import { expect, test } from 'vitest';
import type { Outcome } from './deliver.ts';
import { startDueLoop } from './due-loop.ts';

/** A loop over realms that always have due messages, and how often each had its turn. */
function startWith(deliver: (realmId: number) => Promise<Outcome>, batchMs?: number) {
  const due = [1];
  const turns = new Map<number, number>();
  const database = {
    // Like a real one, it answers in a later turn of the event loop.
    one: () => new Promise((resolve) => setImmediate(() => resolve({ now: 1, next: 0 }))),
    any: async () => due.map((realm_id) => ({ realm_id })),
  } as unknown as Database;
  const loop = startDueLoop({
    database,
    deliver: async (realmId) => {
      turns.set(realmId, (turns.get(realmId) ?? 0) + 1);
      return deliver(realmId);
    },
    onError: () => undefined,
    ...(batchMs === undefined ? {} : { batchMs }),
  });
  return { due, turns, loop };
}

test('a realm that always has more messages does not delay other realms', async () => {
  const { due, turns, loop } = startWith(async (realmId) => {
    await new Promise(setImmediate);
    return realmId === 1 ? 'more' : 'done';
  });
  await expect.poll(() => turns.get(1) ?? 0).toBeGreaterThan(2);
  due.push(2);
  await expect.poll(() => turns.get(2) ?? 0).toBeGreaterThan(0);
  await loop.stop();
});

test('a realm whose batch does not end does not delay others, and has one batch at a time', async () => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { due, turns, loop } = startWith(async (realmId) => {
    if (realmId === 1) await ended;
    return 'done';
  });
  await expect.poll(() => turns.get(1) ?? 0).toBe(1);
  due.push(2);
  await expect.poll(() => turns.get(2) ?? 0).toBeGreaterThan(2);
  expect(turns.get(1)).toBe(1);
  end();
  await loop.stop();
});

test('any number of realms whose batches do not end do not delay other realms', async () => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { due, turns, loop } = startWith(async (realmId) => {
    if (realmId < 10) await ended;
    return 'done';
  });
  due.push(2, 3, 4, 5, 6);
  await expect.poll(() => turns.size).toBe(6);
  due.push(10);
  await expect.poll(() => turns.get(10) ?? 0).toBeGreaterThan(2);
  end();
  await loop.stop();
});

test('a batch that does not end is abandoned, and the realm gets another turn', async () => {
  const { turns, loop } = startWith(() => new Promise(() => undefined), 100);
  await expect.poll(() => turns.get(1) ?? 0).toBeGreaterThan(1);
  await loop.stop();
});

test('the loop stops after its running batches end', async () => {
  let isDelivered = false;
  const { turns, loop } = startWith(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    isDelivered = true;
    return 'done';
  });
  await expect.poll(() => turns.get(1) ?? 0).toBeGreaterThan(0);
  await loop.stop();
  expect(isDelivered).toBe(true);
});

test('a deactivated realm is not tried again at once', async () => {
  const { due, turns, loop } = startWith(async (realmId) => (realmId === 1 ? 'closed' : 'done'));
  due.push(2);
  await expect.poll(() => turns.get(2) ?? 0).toBeGreaterThan(5);
  expect(turns.get(1)).toBe(1);
  await loop.stop();
});
