import { expect, test } from 'vitest';
import type { Model } from './model.ts';
import { termsOfText } from './query.ts';
import { resolveNames } from './query-names.ts';

const named = <T>(all: [id: number, name: string][], more: T) =>
  new Map(all.map(([id, name]) => [id, { id, name, ...more }]));

const names = {
  ownId: 7,
  people: named(
    [
      [7, 'Mia Member'],
      [8, 'Max Member'],
      [9, 'Maxine'],
      [10, 'Smith, Ada'],
    ],
    { isBot: false, isActive: true, role: 400 },
  ),
  channels: named([[1, 'general']], {}),
  archived: named([[2, 'Old plans']], {}),
  listed: named([[3, 'sandbox']], {}),
} as unknown as Model;

const resolve = (text: string, given = names) => resolveNames(termsOfText(text), given);
const operandOf = (text: string) => {
  const { terms, problem } = resolve(text);
  expect(problem).toBeUndefined();
  return terms[0]?.operand;
};

test.each([
  ['sender:me', 7],
  ['sender:"max member"', 8],
  ['mentions:Mia', 7],
  ['dm:Mia', [7]],
  ['dm:maxine,me', [7, 9]],
  ['dm-including:"Smith, Ada"', [10]],
  ['dm:"max member,8"', [8]],
  ['channel:sand', 3],
  ['channel:#General', 1],
  ['channel:old', 2],
  ['sender:ada@example.org', 'ada@example.org'],
  ['topic:me', 'me'],
])('the names of %s become numbers', (text, operand) => {
  expect(operandOf(text)).toEqual(operand);
});

test('a whole name is preferred to longer ones, and other terms stay as they are', () => {
  expect(operandOf('sender:maxine')).toBe(9);
  expect(resolve('-sender:me has:link words').terms).toEqual([
    { operator: 'sender', operand: 7, negated: true },
    { operator: 'has', operand: 'link' },
    { operator: 'search', operand: 'words' },
  ]);
});

test.each([
  ['sender:Max', { of: 'person', fits: 'several', name: 'Max' }],
  ['sender:ember', { of: 'person', fits: 'none', name: 'ember' }],
  ['dm:Mia,Nobody', { of: 'person', fits: 'none', name: 'Nobody' }],
  ['channel:nowhere', { of: 'channel', fits: 'none', name: 'nowhere' }],
])('%s names nobody, or several', (text, problem) => {
  const before = termsOfText(text);
  expect(resolve(text)).toEqual({ terms: before, problem, isOpen: false });
});

test('a name of a channel waits for the list of all channels, unless it is the whole name of a known one', () => {
  const unlisted = { ...names, listed: undefined };
  expect(resolve('channel:sand', unlisted)).toMatchObject({ isOpen: true, problem: undefined });
  expect(resolve('channel:gen', unlisted)).toMatchObject({ isOpen: true, problem: undefined });
  expect(resolve('channel:general', unlisted)).toMatchObject({ isOpen: false, terms: [{ operand: 1 }] });
});
