import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSharedCache } from './shared-cache.ts';

/** A cache of numbers, each of which takes so many kilobytes. */
const cacheOf = (kilobytes: number) =>
  createSharedCache<number>({ maxBytes: kilobytes * 1_000, sizeOf: (value) => value * 1_000 });

test('a realm that fills the cache evicts its own entries, not those of a realm with fewer', () => {
  const cache = cacheOf(100);
  cache.set(1, 'small', 5);
  for (let count = 0; count < 1_000; count++) cache.set(2, `a${count}`, 5);
  expect(cache.get(1, 'small')).toBe(5);
  expect(cache.get(2, 'a0')).toBeUndefined();
  expect(cache.get(2, 'a999')).toBe(5);
  // A realm that comes later gets its part.
  for (let count = 0; count < 8; count++) cache.set(3, `b${count}`, 5);
  for (let count = 0; count < 8; count++) expect(cache.get(3, `b${count}`)).toBe(5);
  expect(cache.get(1, 'small')).toBe(5);
});

test('an entry is found only by its own realm, and the least recently used entry is dropped first', () => {
  const cache = cacheOf(10);
  cache.set(1, 'a', 4);
  cache.set(1, 'b', 4);
  expect([cache.get(2, 'a'), cache.get(1, 'a')]).toEqual([undefined, 4]);
  cache.set(1, 'c', 4);
  expect(['a', 'b', 'c'].map((key) => cache.get(1, key))).toEqual([4, undefined, 4]);
  cache.clear(1);
  expect([cache.get(1, 'a'), cache.bytes]).toEqual([undefined, 0]);
});

test('an entry is found until its time is over', () => {
  let time = 0;
  const cache = createSharedCache<string>({ maxBytes: 1_000, sizeOf: () => 1, keptMs: 10, now: () => time });
  cache.set(1, 'a', 'text');
  time = 9;
  expect(cache.get(1, 'a')).toBe('text');
  time = 10;
  expect([cache.get(1, 'a'), cache.bytes]).toEqual([undefined, 0]);
});

test('the entries never exceed the maximum, and every dropped entry is reported', () => {
  const change = fc.record({ realm: fc.nat(5), key: fc.nat(9).map(String), size: fc.nat(1_500) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const held = new Map<string, number>();
      const cache = createSharedCache<{ name: string; size: number }>({
        maxBytes: 5_000,
        sizeOf: ({ size }) => size,
        onDrop: ({ name }) => void held.delete(name),
      });
      for (const { realm, key, size } of changes) {
        const name = `${realm} ${key}`;
        cache.delete(realm, key);
        held.set(name, size);
        cache.set(realm, key, { name, size });
        expect(cache.bytes).toBeLessThanOrEqual(5_000);
        for (const [known, bytes] of held) {
          const [of = '', at = ''] = known.split(' ');
          expect(cache.get(Number(of), at)?.size).toBe(bytes);
        }
      }
      for (let realm = 0; realm <= 5; realm++) cache.clear(realm);
      expect([cache.bytes, held.size]).toEqual([0, 0]);
    }),
  );
});
