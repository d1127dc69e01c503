import { expect, test } from 'vitest';
import {
  channelNamed,
  type Surroundings,
  suggestChannels,
  suggestEmoji,
  suggestMentions,
  suggestTopics,
  tokenAt,
} from './completion.ts';
import { listedOf } from './listed.ts';
import type { Channel } from './members.ts';
import type { Model } from './model.ts';
import { directPlace } from './place.ts';

const names = ['Max Muster', 'Mia Berg', 'José Ñandú', 'Anna Max', 'Maxine Amax', 'Max | Pipe', 'Twin', 'Twin'];
const people = new Map(
  names.map((name, id) => [
    id,
    { id, name, isBot: false, isSystemBot: false, role: 400, isActive: name !== 'Anna Max' },
  ]),
);
const channel = (id: number, name: string) => ({
  id,
  name,
  color: '#000000',
  isPrivate: false,
  isMuted: false,
  isPinned: false,
  isArchived: false,
  folderId: null,
  permissions: {} as Channel['permissions'],
  notifies: null,
  wildcardsNotify: null,
});
const groups = [
  {
    id: 1,
    name: 'role:members',
    members: new Set([1]),
    subgroups: [],
    isSystem: true,
    description: '',
    permissions: {},
  },
  { id: 2, name: 'makers', members: new Set([1, 2]), subgroups: [], isSystem: false, description: '', permissions: {} },
];
const model = {
  people,
  channels: new Map([channel(5, 'general'), channel(6, 'R>D')].map((one) => [one.id, one])),
  listed: listedOf([
    { stream_id: 5, name: 'general', description: '', invite_only: false },
    { stream_id: 7, name: 'genetics', description: '', invite_only: false },
  ]),
  direct: new Map(),
  muted: new Set(),
  writing: { groups: new Map(groups.map((one) => [one.id, one])) },
} as unknown as Model;
const around: Surroundings = { model };
const labels = (query: string, given = around) => suggestMentions(query, false, given).map(({ label }) => label);

test('muted people are not suggested', () => {
  const silent = { ...around, model: { ...model, muted: new Set([0]) } };
  expect([labels('max mus'), labels('max mus', silent)]).toEqual([['Max Muster'], []]);
});

test.each([
  ['Hello @ma', { kind: 'mention', query: 'ma', start: 6, isSilent: false }],
  ['@_Max Mu', { kind: 'mention', query: 'Max Mu', start: 0, isSilent: true }],
  ['(@**Max', { kind: 'mention', query: 'Max', start: 1, isSilent: false }],
  ['first line\n@', { kind: 'mention', query: '', start: 11, isSilent: false }],
  ['see #gen', { kind: 'channel', query: 'gen', start: 4 }],
  ['see #**gen', { kind: 'channel', query: 'gen', start: 4 }],
  ['see #**general>wel', { kind: 'topic', channel: 'general', query: 'wel', start: 4 }],
  ['see #**general**>', { kind: 'topic', channel: 'general', query: '', start: 4 }],
  ['so :smi', { kind: 'emoji', query: 'smi', start: 3 }],
  ['/po', { kind: 'command', query: 'po', start: 0 }],
] as const)('%j is completed', (text, token) => {
  expect(tokenAt(text, text.length)).toEqual(token);
});

test.each([
  'max@example',
  'a b',
  '@ max',
  '1:2',
  ':)',
  'later /po',
  '`@max',
  '```\n@max',
  '@**Max** and',
  `@${'x'.repeat(80)}`,
])('%j is not a token to complete', (text) => {
  expect(tokenAt(text, text.length)).toBeUndefined();
});

test('a token ends at the caret', () => {
  expect(tokenAt('@max muster', 3)).toMatchObject({ query: 'ma' });
});

test('a match at the beginning of a name ranks before the beginning of a word, and that before other matches', () => {
  expect(labels('max')).toEqual(['Max Muster', 'Max | Pipe', 'Maxine Amax']);
  expect(labels('berg')).toEqual(['Mia Berg']);
  expect(labels('mak')).toEqual(['makers']);
});

test('people of the conversation come first', () => {
  expect(labels('m', { ...around, place: directPlace([1], 9) })[0]).toBe('Mia Berg');
  expect(labels('m', { ...around, writers: new Set([4]) })[0]).toBe('Maxine Amax');
});

test('matching ignores accents, and deactivated users are not suggested', () => {
  expect(labels('jose nandu')).toEqual(['José Ñandú']);
  expect(labels('anna')).toEqual([]);
});

test('a mention is unambiguous, whatever the name contains', () => {
  const insert = (query: string, isSilent = false) => suggestMentions(query, isSilent, around).map((one) => one.insert);
  expect(insert('mia')).toEqual(['@**Mia Berg** ']);
  expect(insert('mia', true)).toEqual(['@_**Mia Berg** ']);
  expect(insert('twin')).toEqual(['@**Twin|6** ', '@**Twin|7** ']);
  expect(insert('max |')).toEqual(['@**Max | Pipe|5** ']);
  expect(insert('makers')).toEqual(['@*makers* ']);
});

test('links to channels and topics escape characters of the link syntax', () => {
  const [first] = suggestChannels('gen', model);
  expect(first?.insert).toBe('#**general** ');
  expect(suggestChannels('r>', model)[0]?.insert).toBe('[#R&#62;D](#narrow/channel/6) ');
  const general = channel(5, 'general');
  expect(suggestTopics('wel', general, ['other', 'welcome'])[0]?.insert).toBe('#**general>welcome** ');
  expect(suggestTopics('c', general, ['c*d.e'])[0]?.insert).toBe(
    '[#general > c&#42;d.e](#narrow/channel/5/topic/c.2Ad.2Ee) ',
  );
});

test('channels that the reader has not joined are suggested after the others, with their topics', () => {
  expect(suggestChannels('gen', model).map(({ label }) => label)).toEqual(['#general', '#genetics']);
  expect(channelNamed('Genetics', model)?.id).toBe(7);
});

test('the shortest emoji comes first', () => {
  const all = ['smiley_cat', 'smile', 'big_smile'].map((name) => ({ name, mark: '' }));
  expect(suggestEmoji('smi', all).map(({ insert }) => insert)).toEqual([':smile: ', ':smiley_cat: ', ':big_smile: ']);
});

test('at most eight of ten thousand people are suggested, and groups are among them', () => {
  const many = new Map(
    Array.from({ length: 10_000 }, (_, id) => [
      id,
      { id, name: `Maker ${id}`, isBot: false, isSystemBot: false, role: 400, isActive: true },
    ]),
  );
  const found = labels('make', { ...around, model: { ...model, people: many } });
  expect(found).toHaveLength(8);
  expect(found).toContain('makers');
});
