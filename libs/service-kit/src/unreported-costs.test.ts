import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let usedMs = 0;
let cost: typeof import('./cost.ts');
let addCost: typeof import('@natter/database').addCost;
let unreported: typeof import('./unreported-costs.ts');

beforeEach(async () => {
  vi.useFakeTimers();
  usedMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: usedMs * 1_000, system: 0 }));
  // The modules are loaded again, because they have counted work of other test files in this process.
  vi.resetModules();
  ({ addCost } = await import('@natter/database'));
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

test('of the unfinished requests of a realm the dearest one is reported', async () => {
  const works = [0, 0, 100].map((moreMs) =>
    cost.measureCost((spentMs) => unreported.untilAnswered(8, () => spentMs() + moreMs, lasting(500))),
  );
  await compute(300);
  expect(reported()).toEqual([[8, 190]]);
  await compute(200);
  await Promise.all(works);
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

test('short statements for events do not count, because other realms delay them', async () => {
  const statements = (costMs: number) =>
    cost.chargedToRealm(7, async () => {
      for (let nth = 0; nth < 10; nth++) addCost(costMs);
    });
  await statements(40);
  expect(reported()).toEqual([]);
  await statements(60);
  expect(reported()).toEqual([[7, 590]]);
});

const costs = (entries: [number, number][]) => new Map(entries);

test('a process reports its costs in a header, and for some seconds that it has none left', async () => {
  let current = costs([]);
  const report = unreported.createReporter('one', () => current);
  expect(report()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  current = costs([
    [3, 120],
    [17, 60],
  ]);
  expect(unreported.reportOf(report() ?? '')).toEqual({ instance: 'one', costs: current });
  current = costs([]);
  await vi.advanceTimersByTimeAsync(10);
  expect(unreported.reportOf(report() ?? '')).toEqual({ instance: 'one', costs: current });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(report()).toBeUndefined();
  expect(unreported.reportOf('')).toBeUndefined();
});

test('costs of processes are added up; a report replaces the last one of the process, and decreases with age', async () => {
  const elsewhere = unreported.createCostsElsewhere();
  elsewhere.note({ instance: 'one', costs: costs([[3, 1_000]]) });
  elsewhere.note({ instance: 'two', costs: costs([[3, 100]]) });
  elsewhere.note({ instance: 'one', costs: costs([[3, 500]]) });
  expect(elsewhere.sum()).toEqual(costs([[3, 600]]));
  elsewhere.note({ instance: 'two', costs: costs([]) });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(elsewhere.sum()).toEqual(costs([[3, 250]]));
  await vi.advanceTimersByTimeAsync(5_001);
  expect(elsewhere.sum()).toEqual(costs([]));
});
