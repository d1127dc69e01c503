import type { Database } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { waitForConsumers, withWaking } from './wait-for-consumers.ts';

/** An owner of two consumers; `behind`: the consumers that are behind at each look. */
function owning(behind: string[][]) {
  const hints: unknown[] = [];
  const looks = [...behind];
  const owner = withWaking({
    database: { one: async () => ({ number: 1, behind: [] }) } as unknown as Database,
    consume: ({ name }: { name: string }) => ({
      name,
      hint: (realmId: number, isAwaited?: boolean) => void hints.push([name, realmId, isAwaited]),
    }),
  } as unknown as Owner);
  for (const name of ['people', 'notices']) owner.consume({ name, on: {} });
  // The first query asks for the end of the log.
  let queries = 0;
  const one = async () => (queries++ === 0 ? { number: 1 } : { behind: looks.shift() ?? [] });
  return { hints, database: { ...owner.database, one } as Database };
}

const consumers = [
  { name: 'people', type: 'realm_user' },
  { name: 'notices', type: 'realm_user' },
];

test('a request that waits for consumers wakes those that are behind', async () => {
  const { hints, database } = owning([['notices'], ['notices'], ['notices', 'people']]);
  await waitForConsumers(database, 7, consumers);
  expect(new Set(hints.map(String))).toEqual(new Set(['notices,7,true', 'people,7,true']));
});

test('a request wakes no consumers that are up to date', async () => {
  const { hints, database } = owning([]);
  await waitForConsumers(database, 7, consumers);
  expect(hints).toEqual([]);
});
