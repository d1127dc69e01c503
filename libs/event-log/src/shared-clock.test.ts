import { expect, test } from 'vitest';
import { createSharedClock } from './shared-clock.ts';

/** A server that is an hour ahead, whose answers take some time. */
function clockOf() {
  let elapsed = 0;
  const hour = 3_600_000;
  const state = { tookMs: 2, stepMs: 0 };
  const clock = createSharedClock(
    async () => {
      const time = hour + elapsed + state.stepMs;
      elapsed += state.tookMs;
      return time;
    },
    () => elapsed,
  );
  const error = (): number => clock.now() - (hour + elapsed + state.stepMs);
  return { clock, state, error };
}

test('a slow reading replaces an exact one only if it shows that the clock of the server was set', async () => {
  const { clock, state, error } = clockOf();
  await clock.read();
  expect(Math.abs(error())).toBeLessThanOrEqual(1);
  state.tookMs = 2_000;
  await clock.read();
  expect(Math.abs(error())).toBeLessThanOrEqual(1);
  state.stepMs = 600_000;
  await clock.read();
  expect(Math.abs(error())).toBeLessThanOrEqual(1_000);
});

test('a slow reading is used if there is no other, and after a failover of the server', async () => {
  const { clock, state, error } = clockOf();
  state.tookMs = 2_000;
  await clock.read();
  expect(Math.abs(error())).toBeLessThanOrEqual(1_000);
  state.tookMs = 2;
  await clock.read();
  state.stepMs = -600_000;
  state.tookMs = 400;
  clock.forget();
  await clock.read();
  expect(Math.abs(error())).toBeLessThanOrEqual(200);
});

test('the local clock is used while a slow reading agrees with it, but not when it is set', async () => {
  const state = { elapsed: 0, wall: 5_000, server: 5_000 };
  const pass = (ms: number): void => {
    state.elapsed += ms;
    state.wall += ms;
    state.server += ms;
  };
  const clock = createSharedClock(
    async () => {
      pass(1);
      const time = state.server;
      pass(39);
      return time;
    },
    () => state.elapsed,
    () => state.wall,
  );
  await clock.read();
  expect(clock.now()).toBe(state.server);
  state.wall += 600_000;
  expect(clock.now()).toBe(state.server);
  clock.forget();
  await clock.read();
  expect(Math.abs(clock.now() - state.server)).toBeLessThanOrEqual(20);
});
