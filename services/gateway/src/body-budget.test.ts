import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

test('an owner and all owners together hold no more than their budgets, and all of it comes back', () => {
  const budget = createBodyBudget({ total: 100, perOwner: 60, largest: 50 });
  const first = budget.open('a');
  const second = budget.open('a');
  first.grow(40);
  expect(() => second.grow(21)).toThrow('Too much data');
  second.grow(20);
  const third = budget.open('b');
  expect(() => third.grow(41)).toThrow('not ready');
  third.grow(40);
  expect(budget.held).toBe(100);
  first.retain();
  first.release();
  expect(budget.held).toBe(100);
  for (const lease of [first, second, third]) lease.release();
  expect(budget.held).toBe(0);
  expect(() => first.grow(1)).toThrow();
  expect(budget.held).toBe(0);
});

test('the largest body has room, however small the budgets are', () => {
  const lease = createBodyBudget({ total: 20, perOwner: 10, largest: 30 }).open('a');
  lease.grow(30);
  expect(() => lease.grow(1)).toThrow('Too much data');
});
