import type { Actor } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createArrivals, maxPollsOfPerson } from './poll-arrivals.ts';

test('a user and their bots together have a bounded number of polls, separate from other users', () => {
  const arrivals = createArrivals();
  const person = { realmId: 1, userId: 7 } as Actor;
  const bot = { realmId: 1, userId: 8, botOwnerId: 7 } as Actor;
  const all = Array.from({ length: maxPollsOfPerson }, (_, index) =>
    arrivals.add(`q${index}`, index % 2 ? bot : person),
  );
  for (const actor of [person, bot]) expect(() => arrivals.add('q', actor)).toThrow('rate limit');
  arrivals.add('q', { realmId: 1, userId: 9 } as Actor);
  arrivals.add('q', { realmId: 2, userId: 7 } as Actor);
  all[0]?.leave();
  arrivals.add('q', bot).leave();
  for (const { leave } of all.slice(1)) leave();
  for (let index = 0; index < maxPollsOfPerson; index++) arrivals.add(`q${index}`, person);
});
