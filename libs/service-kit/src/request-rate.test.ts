import { expect, test } from 'vitest';
import { createRequestRate } from './request-rate.ts';

function rateAt(): { at: (seconds: number) => void; rate: ReturnType<typeof createRequestRate> } {
  let now = 1_000_000_000;
  const began = now;
  return { rate: createRequestRate(() => now), at: (seconds) => (now = began + seconds * 1_000) };
}

test('the rate of a process that just started is divided by its age', () => {
  const { rate, at } = rateAt();
  expect(rate.perSecond()).toBe(0);
  for (let second = 0; second < 10; second += 1) {
    at(second);
    for (let one = 0; one < 3; one += 1) rate.count();
  }
  at(10);
  expect(rate.perSecond()).toBe(3);
});

test('a steady rate stays the same, and is zero a minute after the last request', () => {
  const { rate, at } = rateAt();
  for (let second = 0; second < 300; second += 1) {
    at(second);
    rate.count();
    rate.count();
    if (second > 120) expect(rate.perSecond()).toBeCloseTo(2, 0);
  }
  at(330);
  expect(rate.perSecond()).toBeGreaterThan(0.5);
  at(361);
  expect(rate.perSecond()).toBe(0);
});
