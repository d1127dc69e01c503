import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const by = (group: string, caller: string) => ({ group, caller });

test('a caller and a group do not exceed their budgets, and all memory is released', () => {
  const budget = createBodyBudget({ total: 200, perCaller: 60, largest: 50 });
  const first = budget.open(by('one', 'a'));
  const second = budget.open(by('one', 'a'));
  first.grow(40);
  expect(() => second.grow(21)).toThrow('Too much data');
  second.grow(20);
  const third = budget.open(by('one', 'b'));
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

test('a group with many callers leaves half of the memory to other groups', () => {
  const budget = createBodyBudget({ total: 160, perCaller: 20, largest: 10 });
  const sent = Array.from({ length: 50 }, (_, user) => {
    try {
      budget.open(by('hostile', `user ${user}`)).grow(10);
      return 10;
    } catch {
      return 0;
    }
  });
  expect(sent.filter((bytes) => bytes > 0)).toHaveLength(8);
  const other = budget.open(by('other', 'a'));
  other.grow(20);
  expect(() => budget.open(by('anonymous', 'network')).grow(20)).not.toThrow();
  other.release();
  expect(budget.held).toBe(100);
});

test('the largest body has room, however small the budgets are', () => {
  const lease = createBodyBudget({ total: 20, perCaller: 10, largest: 30 }).open(by('one', 'a'));
  lease.grow(30);
  expect(() => lease.grow(1)).toThrow('Too much data');
});
