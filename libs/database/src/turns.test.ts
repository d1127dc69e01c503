import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';
import { asTenant, createTurns, withPriority } from './turns.ts';

test('realms get places in turn, and a request that stops waiting does not take a place', async () => {
  const turns = createTurns(1);
  const order: string[] = [];
  const giveBack = await withDeadline(5_000, (deadline) => turns.take(deadline));
  const work = (realmId: number, name: string, ms = 5_000) =>
    asTenant({ realmId, userId: 1 }, () =>
      withDeadline(ms, async (deadline) => {
        const done = await turns.take(deadline);
        order.push(name);
        done();
      }),
    );
  const late = work(66, 'late', 20);
  const heavy = [1, 2, 3].map((count) => work(66, `heavy ${count}`));
  const light = work(1, 'light');
  await expect(late).rejects.toThrow();
  giveBack();
  await Promise.all([...heavy, light]);
  expect(order.indexOf('light')).toBeLessThanOrEqual(1);
  expect(order).toHaveLength(4);
  expect(turns.waiting).toBe(0);
});

test('a realm that holds its places for long leaves some to the other realms', async () => {
  const turns = createTurns(10);
  const take = (realmId: number) =>
    asTenant({ realmId, userId: 1 }, () => withDeadline(5_000, (deadline) => turns.take(deadline)));
  let held = 0;
  const heavy = Array.from({ length: 30 }, async () => {
    const giveBack = await take(66);
    held++;
    return giveBack;
  });
  await Promise.resolve();
  const others = [await take(1), await take(2)];
  expect(held).toBe(8);
  expect(turns.waiting).toBe(22);
  for (const giveBack of others) giveBack();
  // The places that were left to others are not lost: all work of the realm is done in the end.
  for (const one of heavy) (await one)();
  expect([held, turns.waiting]).toEqual([30, 0]);
});

test('a realm gets a place even if several other realms hold places for long', async () => {
  const turns = createTurns(10);
  const take = (realmId: number) =>
    asTenant({ realmId, userId: 1 }, () => withDeadline(5_000, (deadline) => turns.take(deadline)));
  const heavy = Array.from({ length: 30 }, (_, index) => take(66 + (index % 2)));
  await Promise.resolve();
  expect(turns.waiting).toBe(30 - 9);
  const giveBack = await take(1);
  giveBack();
  (await take(2))();
  for (const one of heavy) (await one)();
  expect(turns.waiting).toBe(0);
});

test('a single realm gets nearly all places, and work with priority gets any place', async () => {
  const turns = createTurns(10);
  const take = (ms = 60_000) => withDeadline(ms, (deadline) => turns.take(deadline));
  const ofRealm = (ms?: number) => asTenant({ realmId: 1, userId: 1 }, () => take(ms));
  for (let count = 0; count < 8; count++) await ofRealm();
  await expect(ofRealm(20)).rejects.toThrow();
  await withPriority(() => ofRealm());
  await take();
  expect(turns.waiting).toBe(0);
});
