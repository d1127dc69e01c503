import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSystem } from '../open-system.ts';
import { runUnderKills } from '../queue-model/under-kills.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ replicas: { 'event-queue': 2 } });
});
afterAll(() => system?.stop());

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const sequences = 100;

test(`${sequences} random sequences follow the model while processes are killed and Redis is emptied (seed ${seed})`, async () => {
  const outcome = await runUnderKills(system, { sequences, seed, disturbed: 0.008, atOnce: 12 });
  console.log(outcome.counts, `in flight ${outcome.inFlight.join(' ')}, ${outcome.askedAgain} asked again`);
  expect(outcome.problems).toEqual([]);
  expect(outcome.ran).toBe(sequences);
  expect(Math.max(...outcome.inFlight)).toBeGreaterThan(0);
});
