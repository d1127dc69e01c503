import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operators, termsOfText, textOf } from './query.ts';

test('operators become terms, and everything else becomes search text', () => {
  expect(termsOfText('channel:3 -has:link "two words" topic:"a topic" plain http://example.org')).toEqual([
    { operator: 'channel', operand: 3 },
    { operator: 'has', operand: 'link', negated: true },
    { operator: 'topic', operand: 'a topic' },
    { operator: 'search', operand: '"two words" plain http://example.org' },
  ]);
  expect(termsOfText('dm:3,4 sender:Max topic:7')).toEqual([
    { operator: 'dm', operand: [3, 4] },
    { operator: 'sender', operand: 'Max' },
    { operator: 'topic', operand: '7' },
  ]);
  expect(termsOfText('  ')).toEqual([]);
});

test('parsing the text of a search returns the same search', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.record({ name: fc.constantFrom(...operators), text, isNot: fc.boolean() })), (parts) => {
      const typed = parts.map(({ name, text: operand, isNot }) => `${isNot ? '-' : ''}${name.name}:"${operand}"`);
      const terms = termsOfText(typed.join(' '));
      expect(termsOfText(textOf(terms))).toEqual(terms);
    }),
  );
});

test('quotation marks and backslashes of a name are kept', () => {
  for (const operand of ['"Lunch"', 'the "new" plan', 'a\\b c', 'C:\\dir', 'ends with \\', '\\" both']) {
    const terms = [{ operator: 'topic', operand }];
    expect(termsOfText(textOf(terms))).toEqual(terms);
  }
  expect(termsOfText('topic:"ends with \\"')).toEqual([{ operator: 'topic', operand: 'ends with \\' }]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (operand) => {
      const terms = [{ operator: 'topic', operand }];
      expect(termsOfText(textOf(terms))).toEqual(terms);
    }),
  );
});

test('a text of backslashes in open quotation marks is read in time proportional to its length', () => {
  const marks = '\\'.repeat(5_000);
  expect(termsOfText(`topic:"${marks}`)).toEqual([{ operator: 'topic', operand: `"${marks}` }]);
});
