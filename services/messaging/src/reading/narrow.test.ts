import { describe, expect, test } from 'vitest';
import { parseNarrow } from './narrow.ts';

describe('a narrow', () => {
  test('is written as pairs or as objects, under present or former names', () => {
    expect(
      parseNarrow([
        ['stream', 'general'],
        { operator: 'pm-with', operand: 'a@b.c, d@e.f', negated: true },
        { operator: 'has', operand: 'links' },
        ['is', 'private'],
        ['id', '12'],
      ]),
    ).toEqual([
      { operator: 'channel', operand: 'general', negated: false },
      { operator: 'dm', operand: ['a@b.c', 'd@e.f'], negated: true },
      { operator: 'has', operand: 'link', negated: false },
      { operator: 'is', operand: 'dm', negated: false },
      { operator: 'id', operand: 12, negated: false },
    ]);
  });
  test.each([
    [[['colour', 'red']], 'unknown operator colour'],
    [[['is', 'purple']], "unknown 'is' operand purple"],
    [[['channel']], 'element is not a term'],
    ['x', 'narrow is not a list'],
    [[['topic', 3]], "unknown 'topic' operand 3"],
  ])('%j is refused: %s', (narrow, desc) => {
    expect(() => parseNarrow(narrow)).toThrow(expect.objectContaining({ code: 'BAD_NARROW', extra: { desc } }));
  });
  test('finds the empty topic by its display name', () => {
    expect(parseNarrow([['topic', 'general chat']])).toEqual([{ operator: 'topic', operand: '', negated: false }]);
  });
});
