import { expect, test } from 'vitest';
import { Numbers, UserSet } from './user-set.ts';

const random = (below: number): number => Math.floor(Math.random() * below);
const anyIds = (): Set<number> => new Set(Array.from({ length: random(80) }, () => 1 + random(200)));
const sorted = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);

test('sets of users are combined like sets of ids', () => {
  for (let round = 0; round < 300; round++) {
    const numbers = new Numbers();
    const [one, other] = [anyIds(), anyIds()];
    const [left, right] = [new UserSet(numbers, one), new UserSet(numbers, other)];
    expect(sorted(left)).toEqual(sorted(one));
    expect(sorted(left.copy().addAll(right))).toEqual(sorted(new Set([...one, ...other])));
    expect(sorted(left.copy().deleteAll(right))).toEqual(sorted([...one].filter((id) => !other.has(id))));
    expect(sorted(left.copy().keepAll(right))).toEqual(sorted([...one].filter((id) => other.has(id))));
    for (const id of [...one, ...other, 201]) expect(left.has(id)).toBe(one.has(id));
    expect(left.copy().addAll(right).key).toBe(right.copy().addAll(left).key);
    expect(left.key === right.key).toBe(sorted(one).join() === sorted(other).join());
  }
});
