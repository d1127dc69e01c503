import { expect, test } from 'vitest';
import { decoded } from './fetch-page.ts';

const [utf8, latin1] = [Buffer.from('é'), Buffer.from('é', 'latin1')];

test.each([
  ['text/html', utf8],
  ['text/html; charset=utf-8', utf8],
  ['text/html; charset=iso-8859-1', latin1],
  [`text/html;charset = "ISO-8859-1"`, latin1],
  ['text/html; charset=unknown', utf8],
])('a page is decoded as %j says', (type, content) => {
  expect(decoded(content, type)).toBe('é');
});

test('a page without such a header is decoded as it says itself', () => {
  const page = (text: string): Buffer => Buffer.from(`${text}é`, 'latin1');
  for (const text of ['<meta charset=latin1>', `<meta content="text/html; charset='latin1'">`])
    expect(decoded(page(text), 'text/html')).toBe(`${text}é`);
});

/** The least time of several runs, in milliseconds, for ten calls. */
const costOf = (call: () => unknown): number =>
  Math.min(
    ...Array.from({ length: 10 }, () => {
      const begun = performance.now();
      for (let count = 0; count < 10; count++) call();
      return performance.now() - begun;
    }),
  );

test.each([
  ['header', 3_000, (blanks: string) => decoded(utf8, `text/html; charset=${blanks}!`)],
  ['page', 1_000, (blanks: string) => decoded(Buffer.from(`charset=${blanks}!`), 'text/html')],
])('the cost of a %s with %i blanks grows no faster than their number', (_, most, call) => {
  const few = 50;
  const growth = costOf(() => call(' '.repeat(most))) / costOf(() => call(' '.repeat(few)));
  expect(growth).toBeLessThan((3 * most) / few);
});
