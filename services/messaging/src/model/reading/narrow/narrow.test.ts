import { describe, expect, test } from 'vitest';
import { parseNarrow } from './narrow.ts';

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
    [
      [
        ['search', 'x'.repeat(999)],
        ['search', 'xx'],
      ],
      'more than 1000 characters to search for',
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
    expect(() => parseNarrow([one, other])).toThrow('No message can be both a channel message and direct message');
    const [operator, operand] = other;
    expect(parseNarrow([one, { operator, operand, negated: true }])).toHaveLength(2);
  });
  test('accepts the display name of the empty topic', () => {
    expect(parseNarrow([['topic', 'general chat']])).toEqual([{ operator: 'topic', operand: '', negated: false }]);
  });
});
