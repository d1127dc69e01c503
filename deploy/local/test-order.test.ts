import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spread, waitingFiles } from './test-order.ts';

test('every file that starts first exists', () => {
  const root = join(import.meta.dirname, '../..');
  expect(waitingFiles.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

test('two lists of different lengths are spread evenly, each in its order', () => {
  expect(spread(['x', 'y'], ['a', 'b', 'c', 'd', 'e', 'f'])).toEqual(['a', 'x', 'b', 'c', 'd', 'y', 'e', 'f']);
  expect(spread([], ['a', 'b'])).toEqual(['a', 'b']);
});
