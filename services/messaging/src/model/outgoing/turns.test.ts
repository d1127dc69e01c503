import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const never = () => new Promise<never>(() => undefined);
const at = (realmId: number, host: string, requester = 'a') => ({
  realmId,
  requester,
  address: `https://${host}/image.png`,
});

test('work that never ends loses its turn, so it does not block its realm or other realms', async () => {
  const inTurn = createTurns(50);
  const stuck = [1, 2, 3].flatMap((realmId) => ['a', 'b', 'c', 'd'].map((host) => inTurn(at(realmId, host), never)));
  const failed = Promise.allSettled(stuck);
  expect(await Promise.all([1, 4].map((realmId) => inTurn(at(realmId, 'e'), async () => realmId)))).toEqual([1, 4]);
  expect((await failed).map(({ status }) => status)).toEqual(Array(12).fill('rejected'));
});

test('a host that does not answer does not block other hosts of the realm, however many fetches wait for it', async () => {
  const inTurn = createTurns();
  const stuck = Array.from({ length: 300 }, () => inTurn(at(1, 'slow'), never));
  for (const one of stuck) one.catch(() => undefined);
  expect(await inTurn(at(1, 'quick'), async () => 'done')).toBe('done');
});

test('a fetch without readers leaves the queue', async () => {
  const inTurn = createTurns();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = [1, 2].map(() => inTurn(at(1, 'a'), () => promise));
  const reader = new AbortController();
  const started: string[] = [];
  const start = (name: string) => async () => void started.push(name);
  const left = inTurn({ ...at(1, 'a'), signal: reader.signal }, start('abandoned'));
  const next = inTurn(at(1, 'a'), start('next'));
  reader.abort();
  await expect(left).rejects.toThrow('nobody waits');
  resolve('done');
  await Promise.all([...running, next]);
  expect(started).toEqual(['next']);
});

test('a requester whose hosts do not answer delays nobody else in the realm, however many fetches wait', async () => {
  const inTurn = createTurns();
  const stuck = Array.from({ length: 300 }, (_, i) => inTurn(at(1, `host${i}`, 'hostile'), never));
  for (const one of stuck) one.catch(() => undefined);
  const hosts = Array.from({ length: 50 }, (_, i) => `quick${i}`);
  const asked = hosts.map((host, i) => inTurn(at(1, host, `reader${i % 3}`), async () => host));
  expect(await Promise.all(asked)).toEqual(hosts);
});

test('requesters take turns, however many fetches of one wait', async () => {
  const inTurn = createTurns();
  const ends: (() => void)[] = [];
  const started: string[] = [];
  const ask = (requester: string, host: string) =>
    inTurn(at(1, host, requester), () => {
      started.push(host);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = Array.from({ length: 10 }, (_, i) => ['a', 'b'].map((by) => ask(by, `${by}${i}`))).flat();
  all.push(ask('late', 'late'));
  expect(started).toHaveLength(8);
  for (const end of ends.slice(0, 3)) end();
  await expect.poll(() => started.slice(8)).toContain('late');
  expect(started).toHaveLength(11);
  const endAll = (): number => {
    for (const end of ends) end();
    return ends.length;
  };
  await expect.poll(endAll).toBe(21);
  await Promise.all(all);
});
