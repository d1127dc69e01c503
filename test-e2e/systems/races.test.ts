import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomOf } from '../kills.ts';
import { openSystem } from '../open-system.ts';
import { raceKey, raceNestedGroup, raceRole, raceUnsubscribe } from '../races.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system?.stop());

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 25);

describe(`a request is not accepted after its right was revoked (${rounds} rounds each, seed ${seed})`, () => {
  test.each([
    ['an unsubscribe', raceUnsubscribe],
    ['a role change', raceRole],
    ['the removal of a nested group', raceNestedGroup],
    ['a revoked key', raceKey],
  ])('by %s', { timeout: 600_000 + rounds * 2_000 }, async (name, race) => {
    const report = await race(system, rounds, randomOf(seed));
    console.log(`${name}: ${report.accepted} accepted before, ${report.refused} refused after`);
    expect(report.violations).toEqual([]);
    expect(report.accepted).toBeGreaterThan(0);
    expect(report.refused).toBeGreaterThan(0);
  });
});
