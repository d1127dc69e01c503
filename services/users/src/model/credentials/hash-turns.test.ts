import { withDeadline } from '@natter/database';
import { expect, test } from 'vitest';
import { createHashTurns, type Hasher } from './hash-turns.ts';

const from = (network: string, realmId = 1, isFamiliar = false): Hasher => ({ meta: { realmId, network }, isFamiliar });
const v4 = (index: number) => `192.0.${index >> 8}.${index & 255}`;

/** A queue with one place that is taken, and the names of the tasks in the order in which they ran. */
function busy(maxWaiting: number) {
  const inTurn = createHashTurns(1, maxWaiting);
  const ran: string[] = [];
  const refused: string[] = [];
  const blocker = Promise.withResolvers<void>();
  const tasks: Promise<void>[] = [inTurn(from('first'), () => blocker.promise)];
  return {
    refused,
    add(name: string, by: Hasher): void {
      const task = inTurn(by, async () => void ran.push(name)).catch(() => void refused.push(name));
      tasks.push(task);
    },
    async end(): Promise<string[]> {
      blocker.resolve();
      await Promise.all(tasks);
      return ran;
    },
  };
}

test('at most the allowed number of tasks run at once, and a failed task frees its place', async () => {
  const inTurn = createHashTurns(2, 8);
  let [running, most] = [0, 0];
  const task = (index: number) =>
    inTurn(from(v4(index)), async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (index === 1) throw new Error('failed');
      return index;
    });
  const results = await Promise.allSettled([0, 1, 2, 3].map(task));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(most).toBe(2);
  expect(await inTurn(from('any'), async () => 'free')).toBe('free');
});

test('guesses from many networks at one realm leave room for others, who wait for one guess', async () => {
  const queue = busy(128);
  for (let index = 0; index < 1_000; index++) queue.add(`guess ${index}`, from(v4(index)));
  queue.add('login elsewhere', from('203.0.113.1', 2));
  const ran = await queue.end();
  expect(ran.indexOf('login elsewhere')).toBeLessThanOrEqual(1);
  expect(queue.refused).toHaveLength(936);
});

test('one network has the room of one caller for all realms, and users do not wait behind it', async () => {
  const queue = busy(128);
  for (let realm = 2; realm < 100; realm++)
    for (let count = 0; count < 16; count++) queue.add('guess', from(`2001:db8:7:${count}::/64`, realm));
  queue.add('login', from('203.0.113.1'));
  queue.add('change', { meta: { realmId: 1 }, actor: { userId: 7, botOwnerId: undefined } });
  const ran = await queue.end();
  expect(ran).toHaveLength(18);
  expect(ran.slice(0, 2)).toContain('change');
  expect(ran.filter((name) => name === 'login')).toEqual(['login']);
});

test('the networks of one IPv6 host, and a user with bots, each count as one caller with bounded room', async () => {
  const queue = busy(128);
  for (let index = 0; index < 100; index++) queue.add('guess', from(`2001:db8:7:${index.toString(16)}::/64`));
  for (let index = 0; index < 100; index++)
    queue.add('change', {
      meta: { realmId: 1 },
      actor: index % 2 ? { userId: 5 } : { userId: 6 + index, botOwnerId: 5 },
    });
  queue.add('login', from('203.0.113.1'));
  const ran = await queue.end();
  expect(ran.indexOf('login')).toBeLessThanOrEqual(2);
  expect([ran.length, queue.refused.length]).toEqual([33, 168]);
});

test('a caller with an earlier login from its network does not wait behind guesses, but alternates with them', async () => {
  const queue = busy(128);
  for (let index = 0; index < 200; index++) queue.add('guess', from(v4(index)));
  for (let index = 0; index < 3; index++) queue.add('login', from(`203.0.113.${index}`, 1, true));
  const ran = await queue.end();
  expect(ran.slice(0, 6).sort()).toEqual(['guess', 'guess', 'guess', 'login', 'login', 'login']);
});

test('a task leaves the queue at its deadline and frees its room', async () => {
  const inTurn = createHashTurns(1, 4);
  const blocker = Promise.withResolvers<void>();
  const first = inTurn(from('first'), () => blocker.promise);
  let hasRun = false;
  const late = (network: string) =>
    withDeadline(1, () =>
      inTurn(from(network), async () => {
        hasRun = true;
      }),
    );
  for (let count = 0; count < 3; count++)
    for (const network of ['192.0.2.1', '192.0.2.2'])
      await expect(late(network)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  const next = inTurn(from('192.0.2.3'), async () => 'next');
  blocker.resolve();
  expect([await first, await next, hasRun]).toEqual([undefined, 'next', false]);
});
