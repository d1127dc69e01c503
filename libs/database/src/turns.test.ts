import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';
import { createTurns, withOwner } from './turns.ts';

test('places go to realms in turn, and a request that gives up takes none', async () => {
  const turns = createTurns(1);
  const order: string[] = [];
  const giveBack = await withDeadline(5_000, (deadline) => turns.take(deadline));
  const work = (realmId: number, name: string, ms = 5_000) =>
    withOwner({ realmId, userId: 1 }, () =>
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
