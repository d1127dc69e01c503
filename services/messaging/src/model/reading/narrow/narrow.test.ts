import { describe, expect, test } from 'vitest';
import { parseNarrow, requirePossible } from './narrow.ts';

describe('a narrow', () => {
  test('is written as pairs or as objects, under present or former names', () => {
    expect(
      parseNarrow([
        ['stream', 'general'],
        { operator: 'pm-with', operand: 'a@b.c, d@e.f', negated: true },
        { operator: 'has', operand: 'links' },
        { operator: 'is', operand: 'private', negated: true },
        ['id', '12'],
      ]),
    ).toEqual([
      { operator: 'channel', operand: 'general', negated: false },
      { operator: 'dm', operand: ['a@b.c', 'd@e.f'], negated: true },
      { operator: 'has', operand: 'link', negated: false },
      { operator: 'is', operand: 'dm', negated: true },
      { operator: 'id', operand: 12, negated: false },
    ]);
  });
  test.each([
    [[['colour', 'red']], 'unknown operator colour'],
    [[['is', 'purple']], "unknown 'is' operand purple"],
    [[['channel']], 'element is not a term'],
    ['x', 'narrow is not a list'],
    [[['topic', 3]], "unknown 'topic' operand 3"],
    [[['is', 'x'.repeat(9_999)]], `unknown 'is' operand ${'x'.repeat(100)}`],
    [[['x'.repeat(9_999), 1]], `unknown operator ${'x'.repeat(183)}`],
    [[['dm', ' ,, ']], "unknown 'dm' operand  ,, "],
    [
      [
        ['search', 'x'.repeat(999)],
        ['search', 'xx'],
      ],
      'more than 1000 characters to search for',
    ],
    [
      [
        ['search', '"a" "b" "c" "d" "e"'],
        ['search', '"f" "g" "h" "i" "j" "k"'],
      ],
      'more than 10 phrases to search for',
    ],
  ])('%j is refused: %s', (narrow, desc) => {
    expect(() => parseNarrow(narrow)).toThrow(expect.objectContaining({ code: 'BAD_NARROW', extra: { desc } }));
  });
  test.each([
    [
      ['channel', 'a'],
      ['dm', [7]],
    ],
    [
      ['topic', 't'],
      ['is', 'dm'],
    ],
    [
      ['is', 'resolved'],
      ['group-pm-with', [7]],
    ],
    [
      ['channels', 'public'],
      ['dm-including', [7]],
    ],
  ])('the combination of %j and %j is refused, because no message matches both', (one, other) => {
    const check = (...terms: unknown[]) => requirePossible(parseNarrow(terms));
    const refusal = 'No message can be both a channel message and direct message';
    expect(() => check(one, other)).toThrow(refusal);
    expect(() => check({ operator: 'is', operand: 'dm', negated: true }, other)).toThrow(refusal);
    const [operator, operand] = other;
    check(one, { operator, operand, negated: true });
  });
  test('to search for nothing is refused', () => {
    expect(() => parseNarrow([['search', '']])).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', message: 'operand cannot be blank.' }),
    );
  });
  test('accepts the display name of the empty topic', () => {
    expect(parseNarrow([['topic', 'general chat']])).toEqual([{ operator: 'topic', operand: '', negated: false }]);
  });
});
