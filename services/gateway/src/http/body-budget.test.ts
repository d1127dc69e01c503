import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const by = (group: string, caller: string) => ({ group, caller });
const complete = { mayBeCut: false, cut: () => undefined };

test('a caller and a group do not exceed their budgets, and all memory is released', () => {
  const budget = createBodyBudget({ total: 200, perCaller: 60, largest: 50 });
  const first = budget.open(by('one', 'a'), complete);
  const second = budget.open(by('one', 'a'), complete);
  first.grow(40);
  expect(() => second.grow(21)).toThrow('Too much data');
  second.grow(20);
  const third = budget.open(by('one', 'b'), complete);
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
      budget.open(by('hostile', `user ${user}`), complete).grow(10);
      return 10;
    } catch {
      return 0;
    }
  });
  expect(sent.filter((bytes) => bytes > 0)).toHaveLength(8);
  const other = budget.open(by('other', 'a'), complete);
  other.grow(20);
  expect(() => budget.open(by('anonymous', 'network'), complete).grow(20)).not.toThrow();
  other.release();
  expect(budget.held).toBe(100);
});

test('the largest body has room, however small the budgets are', () => {
  const lease = createBodyBudget({ total: 20, perCaller: 10, largest: 30 }).open(by('one', 'a'), complete);
  lease.grow(30);
  expect(() => lease.grow(1)).toThrow('Too much data');
});

/** A budget with bodies that are still being sent, and how to let time pass. */
function sending(limits: { total: number; perCaller: number; largest: number }) {
  let now = 0;
  const cut: string[] = [];
  const budget = createBodyBudget(limits, () => now);
  return {
    budget,
    cut,
    pass(ms: number) {
      now += ms;
    },
    open: (group: string, caller: string, mayBeCut = true) =>
      budget.open(by(group, caller), { mayBeCut, cut: () => cut.push(caller) }),
  };
}

test('two callers who never finish their bodies keep nobody of their group from sending', () => {
  const { budget, cut, pass, open } = sending({ total: 256, perCaller: 64, largest: 26 });
  for (const caller of ['hostile', 'hostile too']) for (let body = 0; body < 4; body++) open('one', caller).grow(16);
  const small = open('one', 'other');
  // A body that began just now may arrive soon.
  expect(() => small.grow(1)).toThrow('not ready');
  pass(2_000);
  small.grow(1);
  expect(cut).toEqual(['hostile']);
  const largest = open('one', 'other');
  for (let bytes = 0; bytes < 25; bytes++) largest.grow(1);
  expect(cut).toHaveLength(2);
  expect(budget.held).toBeLessThanOrEqual(128);
});

test('two people of a group can send the largest body at the same time', () => {
  const { cut, pass, open } = sending({ total: 256, perCaller: 64, largest: 26 });
  for (const caller of ['a', 'b']) {
    const body = open('one', caller);
    for (let bytes = 0; bytes < 26; bytes++) {
      body.grow(1);
      pass(2_000);
    }
  }
  expect(cut).toEqual([]);
});

test('the slowest bodies of the callers who hold most are cut, and none that has arrived', () => {
  const { cut, pass, open } = sending({ total: 200, perCaller: 60, largest: 50 });
  open('one', 'arrived', false).grow(50);
  open('one', 'moderate').grow(10);
  open('one', 'much').grow(30);
  pass(2_000);
  open('one', 'quick').grow(10);
  open('one', 'small').grow(1);
  expect(cut).toEqual(['much']);
});

test('a caller who holds as much as others is refused, and their bodies continue', () => {
  const { cut, pass, open } = sending({ total: 200, perCaller: 60, largest: 50 });
  open('one', 'a').grow(50);
  open('one', 'b').grow(30);
  pass(2_000);
  open('one', 'c').grow(20);
  expect(() => open('one', 'c').grow(10)).toThrow('not ready');
  expect(cut).toEqual([]);
});

test('many groups that never finish their bodies keep no other group from sending', () => {
  const { cut, pass, open } = sending({ total: 256, perCaller: 64, largest: 26 });
  for (let group = 0; group < 10; group++)
    for (let bytes = 128 / 2 ** group; bytes > 0; bytes -= 32)
      open(`hostile ${group}`, `${group} ${bytes}`).grow(Math.min(bytes, 32));
  pass(2_000);
  const body = open('other', 'a');
  for (let bytes = 0; bytes < 26; bytes++) body.grow(1);
  expect(new Set(cut.map((caller) => caller.split(' ')[0]))).toEqual(new Set(['0']));
});

test('a body that was cut frees its memory once, and grows no more', () => {
  const { budget, cut, pass, open } = sending({ total: 200, perCaller: 100, largest: 50 });
  const slow = open('one', 'slow');
  slow.grow(100);
  pass(2_000);
  open('one', 'other').grow(1);
  expect(cut).toEqual(['slow']);
  slow.release();
  expect(budget.held).toBe(1);
  expect(() => slow.grow(1)).toThrow('not ready');
});
