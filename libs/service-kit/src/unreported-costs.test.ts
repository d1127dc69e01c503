import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let usedMs = 0;
let cost: typeof import('./cost.ts');
let unreported: typeof import('./unreported-costs.ts');

beforeEach(async () => {
  vi.useFakeTimers();
  usedMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: usedMs * 1_000, system: 0 }));
  // The modules are loaded again, because they have counted work of other test files in this process.
  vi.resetModules();
  cost = await import('./cost.ts');
  unreported = await import('./unreported-costs.ts');
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The process computes all the time. */
async function compute(ms: number): Promise<void> {
  usedMs += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

const lasting = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));
const reported = (): [number, number][] => [...unreported.unreportedCosts()].map(([id, ms]) => [id, Math.round(ms)]);

test('work for events of a realm is reported while it runs, and for some seconds afterwards', async () => {
  const work = cost.chargedToRealm(7, lasting(1_000));
  await compute(500);
  expect(reported()).toEqual([[7, 490]]);
  await compute(500);
  await work;
  expect(reported()).toEqual([[7, 990]]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reported()).toEqual([[7, 495]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reported()).toEqual([]);
});

test('short work for events is not reported', async () => {
  for (let nth = 0; nth < 100; nth++) {
    const work = cost.chargedToRealm(7, lasting(10));
    await compute(10);
    await work;
  }
  expect(reported()).toEqual([]);
});

test('a request is reported until it is answered', async () => {
  const request = cost.measureCost((spentMs) => unreported.untilAnswered(8, spentMs, lasting(300)));
  await compute(200);
  expect(reported()).toEqual([[8, 190]]);
  await compute(100);
  await request;
  expect(reported()).toEqual([]);
});

test('of many costs the highest are reported', async () => {
  const works = Array.from({ length: 8 }, (_, index) =>
    cost.measureCost((spentMs) => unreported.untilAnswered(index, () => spentMs() + index * 100, lasting(200))),
  );
  await compute(100);
  expect(reported().map(([id]) => id)).toEqual([7, 6, 5, 4, 3]);
  await compute(100);
  await Promise.all(works);
});

test('costs are the same after they were sent in a header', () => {
  const costs = new Map([
    [3, 120],
    [17, 60],
  ]);
  expect(unreported.costsOf(unreported.costsText(costs))).toEqual(costs);
  expect(unreported.costsOf('')).toEqual(new Map());
});

test('costs of services are added up; those of the replicas of a service are averaged', async () => {
  const services = unreported.createCostsOfServices();
  for (let nth = 0; nth < 200; nth++) {
    services.note('users', nth % 2 === 0 ? new Map([[3, 1_000]]) : new Map());
    services.note('channels', new Map([[3, 100]]));
  }
  expect(services.sum().get(3)).toBeGreaterThan(100 + 300);
  expect(services.sum().get(3)).toBeLessThan(100 + 700);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(services.sum().size).toBe(0);
});
