import { addCost } from '@natter/service-kit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CostlyLane, createCostlyLane } from './costly-lane.ts';
import { sharesOf } from './shared-usage.ts';
import type { Tenant } from './tenant.ts';

/** A gateway whose event loop is late while it makes large answers. */
let lane: CostlyLane;
let expensive = 0;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, 'cpuUsage').mockReturnValue(process.cpuUsage());
  lane = createCostlyLane({
    lag: () => ({ ms: expensive * 5, longMs: expensive * 5 }),
    shared: { publish: () => undefined, ofOthers: () => new Map() },
    unreported: () => new Map(),
    crowding: () => new Set(),
    quietLagMs: 0.5,
    now: () => Date.now(),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const member: Tenant = { realmId: 1, userId: 1 };
const strangerOf = (hostRealmId: number): Tenant => ({ realmId: -1, userId: -1, hostRealmId });

async function send(tenant: Tenant, cpuMs: number): Promise<void> {
  await lane.run(tenant, async () => {
    if (cpuMs > 20) expensive++;
    await sleep(cpuMs);
    if (cpuMs > 20) expensive--;
    addCost(cpuMs);
  });
}

/** A member registers again and again, and somebody without an account asks for the login page of a realm each second. */
async function registers(hostRealmId: number): Promise<number> {
  let answered = 0;
  const end = Date.now() + 30_000;
  const registering = (async () => {
    while (Date.now() < end) {
      await send(member, 600);
      answered++;
    }
  })();
  const stranger = (async () => {
    for (; Date.now() < end; await sleep(1_000)) await send(strangerOf(hostRealmId), 1);
  })();
  await vi.advanceTimersByTimeAsync(40_000);
  await Promise.all([registering, stranger]);
  return answered;
}

test('a realm is not held back because somebody without an account uses its login page', async () => {
  expect(await registers(1)).toBeGreaterThanOrEqual(50);
});

test('a realm is held back while somebody without an account uses the login page of another realm', async () => {
  expect(await registers(2)).toBeLessThanOrEqual(15);
});

test('requests without an account are held back while they delay the only realm', async () => {
  const usage = (ms: number) => ({ ms, totalMs: ms, isAtFloor: false });
  const shares = (ofStrangers: number, ofRealm: number) => {
    const { heavy, hasLight } = sharesOf(
      new Map([
        [-1, usage(ofStrangers)],
        [1, usage(ofRealm)],
      ]),
      new Map(),
      { crowding: new Set(), unreported: new Map() },
    );
    return [[...heavy.keys()], hasLight];
  };
  expect([shares(1_000, 10), shares(10, 1_000)]).toEqual([
    [[-1], true],
    [[1], false],
  ]);
});
