import { expect, test } from 'vitest';
import { withoutOperators } from './search-query.ts';

test.each([
  ['tea or coffee', 'tea coffee'],
  ['OR tea', 'tea'],
  ['-tea orchid', 'tea orchid'],
  ['"tea or -coffee" milk', '"tea or -coffee" milk'],
  ['tea "milk', 'tea milk'],
  ['"a" or "b"', '"a" "b"'],
])('%j is searched as %j', (text, expected) => {
  expect(withoutOperators(text).replace(/\s+/g, ' ').trim()).toBe(expected);
});
