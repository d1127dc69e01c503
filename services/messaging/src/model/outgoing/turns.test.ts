import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('work that never settles loses its turn, so it blocks neither its realm nor others', async () => {
  const inTurn = createTurns(50);
  const never = () => new Promise<never>(() => undefined);
  const stuck = [1, 2, 3].flatMap((realmId) => Array.from({ length: 4 }, () => inTurn(realmId, never)));
  const failed = Promise.allSettled(stuck);
  expect(await Promise.all([1, 4].map((realmId) => inTurn(realmId, async () => realmId)))).toEqual([1, 4]);
  expect((await failed).map(({ status }) => status)).toEqual(Array(12).fill('rejected'));
});
