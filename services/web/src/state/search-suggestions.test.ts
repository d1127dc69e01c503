import { expect, test } from 'vitest';
import type { Model } from './model.ts';
import { channelOfTopic, suggestionsFor } from './search-suggestions.ts';

const model = {
  ownId: 3,
  people: new Map([
    [1, { id: 1, name: 'Tamir Amin' }],
    [2, { id: 2, name: 'Mia Member' }],
    [3, { id: 3, name: 'Ada Lovelace' }],
  ]),
  channels: new Map([[5, { id: 5, name: 'general' }]]),
  archived: new Map(),
  listed: new Map(),
} as unknown as Model;
const topics = () => ['two words', 'welcome'];
const labels = (text: string) => suggestionsFor(text, model, topics).map(({ label }) => label);

test('names that begin with the text are before names that contain it, and the reader is first for "me"', () => {
  expect(labels('sender:mi')).toEqual(['sender: Mia Member', 'sender: Tamir Amin']);
  expect(labels('words -sender:me')).toEqual(['-sender: Ada Lovelace', '-sender: Mia Member']);
});

test('a name is suggested beyond a space as long as it fits, and the suggestion replaces all of it', () => {
  const text = 'lunch sender:mia me';
  const [first] = suggestionsFor(text, model, topics);
  expect(first).toMatchObject({ from: 6, result: { term: { operator: 'sender', operand: 2 } }, isWhole: false });
  expect(suggestionsFor('sender:Mia member', model, topics)[0]).toMatchObject({ from: 0, isWhole: true });
  expect(labels('sender:"mia m')).toEqual(['sender: Mia Member']);
  expect(labels('sender:"Mia Member"')).toEqual([]);
  expect(labels('sender:mia has')).toEqual(['has:']);
});

test('topics of the channel that was named before are suggested', () => {
  expect(labels('topic:wel')).toEqual(['topic: welcome', 'topic: wel']);
  expect(labels('topic:two wo')).toEqual(['topic: two words']);
  expect(labels('topic:"New t')).toEqual(['topic: New t']);
  expect(channelOfTopic('channel:gen topic:', [], model)).toBe(5);
  expect(channelOfTopic('topic:w', [{ operator: 'channel', operand: 8 }], model)).toBe(8);
  expect(channelOfTopic('topic:w', [{ operator: 'channel', operand: 8, negated: true }], model)).toBeUndefined();
  expect(channelOfTopic('channel:gen', [], model)).toBeUndefined();
});
