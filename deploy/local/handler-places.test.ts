import { expect, test } from 'vitest';
import { guessesNeeded, guessesOf } from './handler-places.ts';
import { readSources } from './source-files.ts';

test('the name of an operation leads to its handler, mostly with one guess and at most with two', () => {
  const needed = [...guessesNeeded(readSources())].sort(([, a], [, b]) => a - b);
  expect(needed.length).toBeGreaterThan(200);
  expect(needed.filter(([, guesses]) => guesses > 2)).toEqual([]);
  expect(needed[Math.floor(needed.length / 2)]?.[1]).toBe(1);
});

test('the file named after an operation is guessed first, then the file of its resource folder', () => {
  const paths = [
    'services/messaging/src/reactions/reactions.ts',
    'services/messaging/src/messages/add-reaction.ts',
    'services/messaging/src/model/add-reaction.ts',
    'services/users/src/users/add-reaction.ts',
  ];
  const operation = {
    name: 'add-reaction',
    service: 'messaging',
    http: { path: '/messages/{message_id}/reactions' },
  };
  expect(guessesOf(operation, paths)).toEqual([paths[1], paths[0]]);
});

test('a handler in any other file is not found', () => {
  const sources = new Map([
    [
      'services/messaging/src/messages/odd-name.ts',
      'handleWrite(messageChangeOperations.addReaction, async () => ({}))',
    ],
    [
      'services/messaging/src/reactions/reactions.ts',
      'handleWrite(messageChangeOperations.removeReaction, async () => ({}))',
    ],
  ]);
  const needed = guessesNeeded(sources);
  expect(needed.get('removeReaction')).toBe(1);
  expect(needed.get('addReaction')).toBe(Number.POSITIVE_INFINITY);
});

test('a handler is found by the path if clients use another word for the operation', () => {
  const paths = ['services/users/src/settings/settings.ts', 'services/users/src/settings/zcommand.ts'];
  const operation = { name: 'run-command', service: 'users', http: { path: '/zcommand' } };
  expect(guessesOf(operation, paths)).toEqual([paths[1]]);
});
