import { expect, test } from 'vitest';
import { slopeOf } from './memory.ts';

const minuteMs = 60_000;
const samples = (mibAt: (minute: number) => number) =>
  Array.from({ length: 60 }, (_, minute) => ({ atMs: minute * minuteMs, mib: mibAt(minute) }));

test('the slope covers the second half, in MiB per hour', () => {
  expect(slopeOf(samples(() => 100))).toBe(0);
  expect(slopeOf(samples((minute) => 100 + 2 * minute))).toBeCloseTo(120);
  expect(slopeOf(samples((minute) => Math.min(100 + 5 * minute, 200)))).toBeCloseTo(0);
});

test('one sample has no slope', () => {
  expect(slopeOf([{ atMs: 5, mib: 100 }])).toBe(0);
});
