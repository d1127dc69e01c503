import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { heapBytes, stringBytes } from './heap-bytes.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('one character above U+00FF doubles the memory of a text', () => {
  const text = 'a'.repeat(10_000);
  expect(stringBytes(`${text}\u{1f600}`)).toBeGreaterThan(1.9 * stringBytes(text));
});

test.each([
  ['long texts', { body: { content: 'a'.repeat(5_000) } }],
  ['long texts with an emoji', { body: { content: `${'a'.repeat(5_000)}\u{1f600}` } }],
  ['many small texts', { texts: Array.from({ length: 300 }, (_, index) => `text number ${index}`) }],
  ['IDs', { audience: { users: { ids: Array.from({ length: 2_000 }, (_, index) => index) } } }],
  [
    'many objects',
    { items: Array.from({ length: 200 }, (_, id) => ({ id, at: 1.5e12 + id, name: `n${id}`, is: true })) },
  ],
])('a parsed value with %s takes between half of the counted memory and all of it', (_, value) => {
  const json = JSON.stringify(value);
  const counted = heapBytes(JSON.parse(json));
  // The median, because the test runner uses the same heap.
  const [, , each = 0] = Array.from({ length: 5 }, () => memoryOf(json)).sort((one, other) => one - other);
  expect(each).toBeLessThan(counted * 1.1);
  expect(each).toBeGreaterThan(counted / 2);
});

function memoryOf(json: string): number {
  const count = 1_000;
  const held: unknown[] = Array(count).fill(undefined);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < count; index++) held[index] = JSON.parse(json);
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  expect(held).toHaveLength(count);
  return bytes / count;
}
