import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Outcome, runSchedule } from './schedule.ts';
import { type Breakage, breakages } from './system/breakages.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const schedules = 100;

// Compiling schemas costs more than the simulation.
z.config({ jitless: true });

afterEach(() => new Promise((resolve) => setImmediate(resolve)));

async function firstFailure(from: number, most: number, breakage?: Breakage): Promise<Outcome | undefined> {
  for (let one = from; one < from + most; one++) {
    const outcome = await runSchedule(one, { breakage });
    if (outcome.violations.length > 0) return outcome;
  }
  return undefined;
}

test(`${schedules} schedules from seed ${seed} keep every promise`, async () => {
  const failure = await firstFailure(seed, schedules);
  expect(failure?.violations, `npm run simulate -- --seed ${failure?.seed} --log`).toBeUndefined();
});

test('a seed gives the same schedule again', async () => {
  const [first, second] = [await runSchedule(seed), await runSchedule(seed)];
  expect(second).toEqual(first);
  expect((await runSchedule(seed + 1)).digest).not.toBe(first.digest);
});

describe('the simulation detects a product that', () => {
  test.each(Object.entries(breakages))('%s', async (_, breakage) => {
    // If this fails, the simulation no longer detects the breakage.
    const failure = await firstFailure(501, 1_500, breakage);
    expect(failure?.violations).not.toEqual([]);
    expect(failure).toBeDefined();
    expect(await runSchedule(failure?.seed ?? 0, { breakage })).toEqual(failure);
    expect((await runSchedule(failure?.seed ?? 0)).violations).toEqual([]);
  });
});
