import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomOf } from '../kills.ts';
import { hitSchedulers } from '../scheduler-kills.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 5);

let system: System;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  const env = { ...process.env, NATTER_RATE_LIMIT: '1000000' };
  system = await startSystem({
    dataDir,
    env,
    replicas: { scheduler: 2 },
    log: () => undefined,
    ...(process.env.LINES ? { onLine: (line: string) => console.log(line) } : {}),
  });
});
afterAll(() => system?.stop());

describe(`two schedulers, killed and stopped under load (${rounds} blows, seed ${seed})`, () => {
  test('send each scheduled message once, and none is missing', { timeout: 600_000 }, async () => {
    const report = await hitSchedulers(system, rounds, randomOf(seed));
    console.log(
      `${report.scheduled} scheduled, ${report.killed} kills, ${report.stopped} stops, in flight at each: ${report.inFlight.join(' ')}`,
    );
    expect(report.arrivals.size).toBe(report.scheduled);
    expect([...report.arrivals].filter(([, count]) => count !== 1)).toEqual([]);
    expect(Math.max(...report.inFlight)).toBeGreaterThan(0);
  });
});
