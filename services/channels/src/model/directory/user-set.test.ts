import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Numbers, UserSet } from './user-set.ts';

const anyIds = fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 80 });
const sorted = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);

test('sets of users are combined like sets of ids', () => {
  fc.assert(
    fc.property(anyIds, anyIds, (one, other) => {
      const numbers = new Numbers();
      const [left, right] = [new UserSet(numbers, one), new UserSet(numbers, other)];
      expect(sorted(left)).toEqual(sorted(one));
      expect(left.list()).toEqual([...left]);
      expect(left.isEmpty).toBe(one.length === 0);
      expect(left.copy().deleteAll(left).isEmpty).toBe(true);
      expect(sorted(left.copy().addAll(right))).toEqual(sorted(new Set([...one, ...other])));
      expect(sorted(left.copy().deleteAll(right))).toEqual(sorted(one.filter((id) => !other.includes(id))));
      expect(sorted(left.copy().keepAll(right))).toEqual(sorted(one.filter((id) => other.includes(id))));
      for (const id of [...one, ...other, 201]) expect(left.has(id)).toBe(one.includes(id));
      expect(left.copy().addAll(right).key).toBe(right.copy().addAll(left).key);
      expect(left.key === right.key).toBe(sorted(one).join() === sorted(other).join());
    }),
  );
});
