import { expect, test } from 'vitest';
import { type Attempts, tooMany } from '../model/credentials/attempts.ts';
import { gapAfter, limitResets } from './password-resets.ts';

test('mails to one address are sent at growing intervals of at most four hours', () => {
  expect([0, 2, 3, 4, 5, 6, 7, 8, 1_000].map(gapAfter)).toEqual([
    0, 0, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400,
  ]);
  let mailed = 0;
  for (let second = 0; second < 86_400; second += gapAfter(mailed)) mailed++;
  expect(mailed).toBeLessThanOrEqual(12);
});

test('a network that invents addresses does not add counts after it is refused', async () => {
  const counts = new Map<string, number>();
  const attempts: Pick<Attempts, 'count'> = {
    count: async (_, what, { most, seconds }) => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      if ((counts.get(what) ?? 0) > most) throw tooMany(seconds);
    },
  };
  const meta = { requestId: '1', realmId: 1, client: 'test', network: '192.0.2.1' };
  const ask = (index: number) => limitResets(attempts, meta, `nobody${index}@example.com`);
  const outcomes = await Promise.allSettled(Array.from({ length: 1_000 }, (_, index) => ask(index)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30);
  // One for the network, and two for each address.
  expect(counts.size).toBe(61);
});
