import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runUnderKills } from '../queue-model/under-kills.ts';

let system: System;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  system = await startSystem({
    dataDir,
    replicas: { 'event-queue': 2 },
    env: { ...process.env, NATTER_RATE_LIMIT: '1000000' },
    log: () => undefined,
  });
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
