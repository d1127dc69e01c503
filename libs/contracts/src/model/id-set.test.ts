import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idSet, idsOf, withIds } from './id-set.ts';

const sparse = fc.array(fc.integer({ min: 1, max: 1_000_000 }));
const dense = fc.array(fc.integer({ min: 100, max: 300 }), { minLength: 50 });

test('a set with added ids is the set of all of them, and the set itself stays the same', () => {
  const added = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 5 });
  fc.assert(
    fc.property(fc.oneof(sparse, dense), added, (ids, more) => {
      const set = idSet(ids);
      expect(withIds(set, more)).toEqual(idSet([...ids, ...more]));
      expect(idsOf(set)).toEqual(idsOf(idSet(ids)));
    }),
  );
});
