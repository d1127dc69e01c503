import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startLagMeter } from './lag.ts';

let now = 0;
let usedMs = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: usedMs * 1_000, system: 0 }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The meter looks after a gap in which the process used some CPU time. */
function lagAfter(gapMs: number, cpuMs: number): number {
  const meter = startLagMeter();
  [now, usedMs] = [now + gapMs, usedMs + cpuMs];
  vi.advanceTimersByTime(20);
  return meter.current().ms;
}

test('a long turn of the event loop counts as lag', () => {
  expect(lagAfter(3_000, 2_900)).toBeGreaterThan(1_000);
  expect(lagAfter(200, 0)).toBeGreaterThan(40);
});

test('the time while a process was stopped does not count as lag', () => {
  expect(lagAfter(3_000, 5)).toBe(0);
});
