import { addCost, withDeadline } from '@natter/service-kit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CostlyLane, createCostlyLane } from './costly-lane.ts';
import { createFairShare } from './fair-share.ts';
import { shareUsage } from './shared-usage.ts';
import type { Tenant } from './tenant.ts';

/** Two gateways of a system whose event loops are late while expensive requests are in flight. */
let here: CostlyLane;
let elsewhere: CostlyLane;
let foreignLagMs = 0;
let crowding = new Set<number>();
let expensive = 0;
let mostExpensive = 0;
/** Number of answers by realm. */
let answered = new Map<number, number>();

beforeEach(() => {
  vi.useFakeTimers();
  // Costs are those that the requests report: collections of garbage and other threads use CPU, too.
  vi.spyOn(process, 'cpuUsage').mockReturnValue(process.cpuUsage());
  answered = new Map();
  [foreignLagMs, expensive, mostExpensive] = [0, 0, 0];
  crowding = new Set();
  const listeners: ((payload: Uint8Array) => void)[] = [];
  const gateway = (): CostlyLane => {
    const bus = {
      publish: (_: string, payload: string | Uint8Array) =>
        void listeners.map((listener) => listener(Buffer.from(payload))),
      subscribe: (subject: string, listener: (payload: Uint8Array, subject: string) => void) => {
        listeners.push((payload) => listener(payload, subject));
        return () => undefined;
      },
    };
    const now = () => Date.now();
    const given = { lag, shared: shareUsage(bus, now), unreported: () => new Map(), crowding: () => crowding };
    return createCostlyLane({ ...given, quietLagMs: 0.5, now });
  };
  [here, elsewhere] = [gateway(), gateway()];
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const lag = () => ({ ms: foreignLagMs + expensive * 5, longMs: foreignLagMs + expensive * 5 });
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Seen {
  answers: number;
  refused: number;
  longestWaitMs: number;
}

interface Options {
  cpuMs?: number;
  /** Requests with a cost of 1 ms, by their number. */
  isCheap?: (nth: number) => boolean;
  at?: Pick<CostlyLane, 'run'>;
}

/**
 * Sends the next request when the last is answered, until the given time. Each takes 20 ms, and the CPU time that its
 * service reports.
 */
async function client(
  tenant: Tenant,
  untilMs: number,
  { cpuMs: usualCpuMs = 1, isCheap = () => false, pauseMs = 0, at = here }: Options & { pauseMs?: number } = {},
): Promise<Seen> {
  const seen: Seen = { answers: 0, refused: 0, longestWaitMs: 0 };
  let sent = 0;
  while (Date.now() < untilMs) {
    const asked = Date.now();
    const cpuMs = isCheap(sent++) ? 1 : usualCpuMs;
    try {
      await at.run(tenant, async () => {
        seen.longestWaitMs = Math.max(seen.longestWaitMs, Date.now() - asked);
        if (cpuMs > 20) expensive++;
        mostExpensive = Math.max(mostExpensive, expensive);
        await sleep(20);
        if (cpuMs > 20) expensive--;
        addCost(cpuMs);
      });
      seen.answers++;
      answered.set(tenant.realmId, (answered.get(tenant.realmId) ?? 0) + 1);
    } catch {
      seen.refused++;
    }
    await sleep(pauseMs);
  }
  return seen;
}

/** `many` users of a realm who send as fast as they can; each begins with another number. */
const crowd = (realmId: number, many: number, untilMs: number, { isCheap, ...options }: Options = {}) =>
  Promise.all(
    Array.from({ length: many }, (_, index) =>
      client({ realmId, userId: index + 1 }, untilMs, {
        ...options,
        ...(isCheap ? { isCheap: (nth) => isCheap(nth + index) } : {}),
      }),
    ),
  );

async function finish<T>(ms: number, work: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(ms);
  return work;
}

const answersOf = (all: readonly Seen[]): number => all.reduce((sum, { answers }) => sum + answers, 0);

test('users with expensive requests are held back while their requests delay another realm', async () => {
  const end = Date.now() + 20_000;
  const hostile = crowd(66, 32, end, { cpuMs: 80 });
  const light = client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  await vi.advanceTimersByTimeAsync(40_000);
  // Without the lane there would be 32,000.
  expect(answersOf(await hostile)).toBeLessThan(1_000);
  expect((await light).refused).toBe(0);
});

test('one request without an account is always in flight, because logins are among them', async () => {
  const end = Date.now() + 20_000;
  const strangers = Promise.all(
    Array.from({ length: 32 }, (_, index) => client({ realmId: -1, userId: -1 - index }, end, { cpuMs: 80 })),
  );
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  await vi.advanceTimersByTimeAsync(40_000);
  // A realm with as many users is held to less than a tenth of this.
  expect(answersOf(await strangers)).toBeGreaterThan(500);
});

test('users with expensive requests are also held back if the other realm uses another gateway', async () => {
  const end = Date.now() + 20_000;
  const hostile = crowd(66, 32, end, { cpuMs: 80 });
  const light = client({ realmId: 1, userId: 1 }, end, { pauseMs: 100, at: elsewhere });
  await vi.advanceTimersByTimeAsync(40_000);
  expect(answersOf(await hostile)).toBeLessThan(1_000);
  expect((await light).longestWaitMs).toBe(0);
});

test('an unknown realm starts with few requests in flight, and each cheap answer allows more', async () => {
  const end = Date.now() + 1_000;
  void crowd(66, 64, end, { cpuMs: 80 });
  const ordinary = crowd(1, 64, end, { cpuMs: 2 });
  await vi.advanceTimersByTimeAsync(1);
  expect(expensive).toBeLessThanOrEqual(2);
  const waits = (await finish(2_000, ordinary)).map(({ longestWaitMs }) => longestWaitMs);
  expect(Math.max(...waits)).toBeLessThan(200);
});

/**
 * A slow request of a realm of which nothing is known, and cheap ones of others in the realm beside it, each for 5 ms.
 * Returns the largest number of cheap requests in flight while the slow one was, and afterwards.
 */
async function overtaking(slow: { ms: number; cpuMs: number }): Promise<{ during: number; after: number }> {
  const most = { during: 0, after: 0 };
  let isSlowInFlight = true;
  let cheap = 0;
  const light = client({ realmId: 1, userId: 1 }, Date.now() + slow.ms, { pauseMs: 100 });
  const answeredSlow = here.run({ realmId: 66, userId: 1 }, async () => {
    await sleep(slow.ms);
    addCost(slow.cpuMs);
    isSlowInFlight = false;
  });
  const send = (userId: number) =>
    here.run({ realmId: 66, userId }, async () => {
      cheap++;
      const phase = isSlowInFlight ? 'during' : 'after';
      most[phase] = Math.max(most[phase], cheap);
      await sleep(5);
      cheap--;
    });
  // Some of these requests are answered only after the slow one.
  const all = Array.from({ length: 150 }, (_, index) => send(index + 2));
  await vi.advanceTimersByTimeAsync(slow.ms);
  all.push(...Array.from({ length: 100 }, (_, index) => send(index + 200)));
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all([light, answeredSlow, ...all]);
  return most;
}

test('cheap answers that overtake an expensive request of an unknown realm do not allow more requests', async () => {
  const { during, after } = await overtaking({ ms: 300, cpuMs: 1_000 });
  // The limit is two at first, and rises by a tenth every 100 ms.
  expect(during).toBeLessThanOrEqual(3);
  expect(after).toBeLessThanOrEqual(5);
});

test('cheap answers count after the slow request that they overtook was cheap', async () => {
  const { during, after } = await overtaking({ ms: 300, cpuMs: 1 });
  expect(during).toBeLessThanOrEqual(3);
  expect(after).toBeGreaterThanOrEqual(50);
});

test('a realm whose first requests are expensive is held back within a second', async () => {
  const end = Date.now() + 10_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 32, end, { cpuMs: 80 });
  void crowd(66, 32, end, { cpuMs: 80, at: elsewhere });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answered.get(66)).toBeLessThan(60);
  await vi.advanceTimersByTimeAsync(20_000);
});

test('users who mix cheap and expensive requests cannot send many expensive ones at once', async () => {
  const end = Date.now() + 10_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 64, end, { cpuMs: 80, isCheap: (nth) => nth % 5 !== 0 });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(mostExpensive).toBeGreaterThan(0);
  expect(mostExpensive).toBeLessThanOrEqual(4);
});

test('users who cancel expensive requests are held back', async () => {
  const end = Date.now() + 20_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  let began = 0;
  const cancelAll = async (userId: number): Promise<void> => {
    while (Date.now() < end)
      await withDeadline(60_000, (deadline) =>
        here.run({ realmId: 66, userId }, async () => {
          began++;
          expensive++;
          await sleep(60);
          expensive--;
          deadline.cancel();
          deadline.check();
        }),
      ).catch(() => undefined);
  };
  for (let userId = 1; userId <= 32; userId++) void cancelAll(userId);
  await vi.advanceTimersByTimeAsync(40_000);
  // Without the lane there would be 10,000.
  expect(began).toBeLessThan(1_000);
});

test('a realm is not held back for another realm that became silent', async () => {
  const end = Date.now() + 100_000;
  const silent = client({ realmId: 1, userId: 1 }, Date.now() + 1);
  await vi.advanceTimersByTimeAsync(80_000);
  const busy = crowd(66, 16, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(40_000);
  expect(answersOf(await busy)).toBeGreaterThan(10_000);
  await silent;
});

test('a realm is still held back after a pause of some seconds', async () => {
  const end = Date.now() + 60_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 8, Date.now() + 5_000, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(30_000);
  answered.clear();
  void crowd(66, 8, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answered.get(66) ?? 0).toBeLessThanOrEqual(10);
  await vi.advanceTimersByTimeAsync(80_000);
});

test('users with one expensive request each are held back when they return after a pause', async () => {
  const end = Date.now() + 80_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 8, Date.now() + 1, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(answered.get(66)).toBe(8);
  mostExpensive = 0;
  void crowd(66, 8, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(mostExpensive).toBeLessThanOrEqual(2);
  await vi.advanceTimersByTimeAsync(60_000);
});

test('if the lag has another cause, a realm that is held back gets more requests in flight in steps', async () => {
  foreignLagMs = 5;
  const end = Date.now() + 30_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 64, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(2_000);
  mostExpensive = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(mostExpensive).toBeGreaterThan(0);
  expect(mostExpensive).toBeLessThanOrEqual(8);
});

test('the usual requests of a realm do not wait behind a hostile realm', async () => {
  const end = Date.now() + 60_000;
  const inTurn = [here, elsewhere].map((lane) => {
    const share = createFairShare(lag, () => Date.now());
    return { run: <R>(tenant: Tenant, work: () => Promise<R>) => lane.run(tenant, () => share.run(tenant, work)) };
  });
  const [first, second] = inTurn;
  if (!first || !second) throw new Error('no gateways');
  const idle = Array.from({ length: 50 }, (_, index) =>
    client({ realmId: 100 + index, userId: 1 }, end, { pauseMs: 10_000 }),
  );
  for (const at of inTurn) void crowd(66, 32, end, { cpuMs: 80, at });
  // Sends, pages of messages, and registers now and then.
  const mix = [2, 2, 15, 2, 20, 2, 60].flatMap((cpuMs, index) =>
    [first, second].map(async (at) => {
      await sleep(37 * index);
      return client({ realmId: 1, userId: index + 1 }, end, { cpuMs, pauseMs: cpuMs * 100, at });
    }),
  );
  await vi.advanceTimersByTimeAsync(120_000);
  for (const seen of await Promise.all(mix)) expect(seen).toMatchObject({ refused: 0, longestWaitMs: 0 });
  await Promise.all(idle);
});

test('a realm with more users keeps more requests', async () => {
  const end = Date.now() + 20_000;
  void client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  void crowd(66, 600, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(10_000);
  answered.clear();
  await vi.advanceTimersByTimeAsync(10_000);
  // A realm with few users would get about 7: 5 % of the time, for requests of 80 ms.
  expect(answered.get(66)).toBeGreaterThan(60);
});

test('users with cheap requests are not held back, whatever their number and the lag', async () => {
  foreignLagMs = 30;
  const end = Date.now() + 10_000;
  void client({ realmId: 2, userId: 1 }, end, { pauseMs: 1_000 });
  await vi.advanceTimersByTimeAsync(2_000);
  const busy = crowd(1, 64, end, { cpuMs: 2 });
  await vi.advanceTimersByTimeAsync(20_000);
  for (const { refused, longestWaitMs } of await busy) {
    expect(refused).toBe(0);
    // Requests wait at most until the first costs of their users are known.
    expect(longestWaitMs).toBeLessThan(2_000);
  }
});

test('users whose first requests were expensive are not held back for long on a busy machine', async () => {
  foreignLagMs = 30;
  const end = Date.now() + 20_000;
  void client({ realmId: 2, userId: 1 }, end, { pauseMs: 1_000 });
  await vi.advanceTimersByTimeAsync(2_000);
  const busy = crowd(1, 4, end, { cpuMs: 80, isCheap: (nth) => nth >= 4 && nth % 40 !== 0 });
  await vi.advanceTimersByTimeAsync(40_000);
  // Without the lane there would be 3,600.
  expect(answersOf(await busy)).toBeGreaterThan(2_500);
});

test('users with cheap requests are not held back in a realm where other users are', async () => {
  const end = Date.now() + 20_000;
  const hostile = crowd(66, 32, end, { cpuMs: 80 });
  const light = client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  const innocent = await finish(40_000, client({ realmId: 66, userId: 1_000 }, end, { pauseMs: 50 }));
  expect(innocent.answers).toBeGreaterThan(150);
  await Promise.all([hostile, light]);
});

/** The longest wait of 20 people with a request a second, beside a realm with cheap requests that makes event loops late. */
async function waitBesideCrowd(cpuMs: number): Promise<number> {
  const end = Date.now() + 30_000;
  void crowd(66, 64, end);
  await vi.advanceTimersByTimeAsync(5_000);
  foreignLagMs = 30;
  const people = Array.from({ length: 20 }, (_, index) =>
    client({ realmId: 1, userId: index + 1 }, end, { cpuMs, pauseMs: 1_000 }),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return Math.max(...(await Promise.all(people)).map(({ longestWaitMs }) => longestWaitMs));
}

test('a realm with few requests is not held back while another realm sends too many cheap requests', async () => {
  expect(await waitBesideCrowd(18)).toBeLessThan(200);
});

test('while one realm overloads the server, other realms are not held back even with expensive requests', async () => {
  crowding = new Set([66]);
  expect(await waitBesideCrowd(120)).toBeLessThan(1_500);
});

test('a realm that does not delay others is not limited to its first few requests', async () => {
  const end = Date.now() + 10_000;
  const light = client({ realmId: 1, userId: 1 }, end, { pauseMs: 100 });
  // Expensive, but on many cores: no event loop is late.
  const busy = crowd(2, 64, end, { cpuMs: 15 });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(answersOf(await busy)).toBeGreaterThan(20_000);
  await light;
});

test('a realm that is alone is not held back', async () => {
  const end = Date.now() + 5_000;
  const all = await finish(20_000, crowd(1, 16, end, { cpuMs: 80 }));
  expect(answersOf(all)).toBeGreaterThan(3_500);
});

test('holding back ends after some seconds if it does not help', async () => {
  foreignLagMs = 100;
  const end = Date.now() + 30_000;
  const light = client({ realmId: 2, userId: 1 }, end, { pauseMs: 100 });
  const busy = crowd(1, 4, end, { cpuMs: 80 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(answersOf(await busy)).toBeGreaterThan(2_000);
  await light;
});

test('requests of disconnected clients do not take room from later requests', async () => {
  const run = (userId: number) => here.run({ realmId: 66, userId }, () => sleep(1_000));
  // A new realm begins with 2 in flight.
  const first = Array.from({ length: 2 }, (_, index) => run(index + 1));
  const gone = Array.from({ length: 10_000 }, (_, index) =>
    withDeadline(60_000, (deadline) => {
      const waiting = run(index + 100);
      deadline.cancel();
      return waiting;
    }).catch(() => 'gone'),
  );
  expect(new Set(await Promise.all(gone))).toEqual(new Set(['gone']));
  expect(here.waiting).toBe(0);
  const late = run(50_000).then(() => 'answered');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await late).toBe('answered');
  await Promise.all(first);
});
