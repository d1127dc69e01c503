import { t } from '../text/text.ts';
import type { KnownChannel } from './listed.ts';
import type { Channel, Person } from './members.ts';
import type { Model } from './model.ts';
import type { Place } from './place.ts';
import type { Group } from './writing-snapshot.ts';

/** The text before the caret that a suggestion can complete. */
export type Token =
  | { kind: 'mention'; query: string; start: number; isSilent: boolean }
  | { kind: 'channel' | 'emoji' | 'command'; query: string; start: number }
  | { kind: 'topic'; query: string; start: number; channel: string };

export interface Suggestion {
  key: string;
  label: string;
  detail: string;
  /** A picture before the label: an emoji. */
  mark?: string;
  /** Replaces the text from the start of the token. */
  insert: string;
}

const shown = 8;
const maxQuery = 60;

/** Finds the token that ends at the caret. Code is not completed. */
export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const offset = caret - line.length;
  if (isCode(before, line)) return undefined;
  const command = offset === 0 ? /^\/(\w*)$/.exec(line) : null;
  if (command) return { kind: 'command', query: command[1] ?? '', start: 0 };
  const topic = /(?:^|[\s(])#\*\*([^*>\n]+)(?:\*\*)?>([^*>\n]*)$/.exec(line);
  if (topic) return at({ kind: 'topic', channel: topic[1] ?? '', query: topic[2] ?? '' }, '#**');
  const emoji = /(?:^|[\s(]):([\w+-]{2,40})$/.exec(line);
  if (emoji) return at({ kind: 'emoji', query: emoji[1] ?? '' }, ':');
  const mention = /(?:^|[\s(["'])@(_?)\*{0,2}([^\s*@#:`][^*@#:`\n]*)?$/.exec(line);
  if (mention) return at({ kind: 'mention', query: mention[2] ?? '', isSilent: mention[1] === '_' }, '@');
  const channel = /(?:^|[\s(])#\*{0,2}([^\s*@#:>`][^*@#:>`\n]*)?$/.exec(line);
  return channel ? at({ kind: 'channel', query: channel[1] ?? '' }, '#') : undefined;

  function at<T extends { query: string }>(token: T, sign: string): (T & { start: number }) | undefined {
    return token.query.length > maxQuery ? undefined : { ...token, start: offset + line.lastIndexOf(sign) };
  }
}

const isCode = (before: string, line: string): boolean =>
  (before.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1 || (line.split('`').length - 1) % 2 === 1;

/** A name in lower case without marks, so that `jose` finds `José`. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

interface Indexed<T> {
  one: T;
  text: string;
}
const indexes = new WeakMap<object, Indexed<unknown>[]>();

/** The names of a collection, computed once for each state of it; by name unless its order counts. */
function indexOf<T>(all: Iterable<T> & object, nameOf: (one: T) => string, isOrdered = false): Indexed<T>[] {
  const known = indexes.get(all);
  if (known) return known as Indexed<T>[];
  const index = [...all].map((one) => ({ one, text: plain(nameOf(one)) }));
  if (!isOrdered) index.sort((a, b) => (a.text < b.text ? -1 : 1));
  indexes.set(all, index);
  return index;
}

/** The quality of a match: 3 for the beginning of a name, 2 for the beginning of a word, 1 for any part, 0 for none. */
function matchOf(text: string, query: string): number {
  if (text.startsWith(query)) return 3;
  const part = text.indexOf(query);
  if (part < 0) return 0;
  return /[\p{L}\p{N}]/u.test(text[part - 1] ?? '') && !text.includes(` ${query}`) ? 1 : 2;
}

/** The best matches, without sorting all. Of equal ones the first in the index. */
function best<T>(index: readonly Indexed<T>[], query: string, bonusOf: (one: T) => number, count = shown): T[] {
  const wanted = plain(query);
  const found: { one: T; score: number }[] = [];
  for (const { one, text } of index) {
    const match = matchOf(text, wanted);
    if (match === 0) continue;
    const score = match * 100 + bonusOf(one);
    let place = found.length;
    while (place > 0 && score > (found[place - 1]?.score ?? 0)) place--;
    if (place === count) continue;
    found.splice(place, 0, { one, score });
    if (found.length > count) found.pop();
  }
  return found.map(({ one }) => one);
}

export interface Surroundings {
  model: Model;
  /** The conversation for which people are found. */
  place?: Place | undefined;
  /** People who wrote in the conversation. */
  writers?: ReadonlySet<number>;
}

/** People by name to write to or to mention, without those whom the reader muted. */
export const findPartners = (query: string, around: Surroundings, count = shown): Person[] =>
  findPeople(query, around, count + around.model.muted.size)
    .filter(({ id }) => !around.model.muted.has(id))
    .slice(0, count);

/** People by name: first those of the conversation, then those of recent direct messages. */
export function findPeople(query: string, { model, place, writers }: Surroundings, count = shown): Person[] {
  const participants = new Set(place?.kind === 'direct' ? place.userIds : []);
  const recent = recentOf(model);
  const bonusOf = ({ id, isActive, isBot }: Person): number => {
    if (!isActive) return Number.NEGATIVE_INFINITY;
    return (writers?.has(id) || participants.has(id) ? 50 : 0) + (recent.has(id) ? 20 : 0) - (isBot ? 10 : 0);
  };
  return best(indexOf(peopleOf(model), nameOf), query, bonusOf, count).filter(({ isActive }) => isActive);
}

const nameOf = ({ name }: { name: string }): string => name;

const lists = new WeakMap<object, unknown[]>();
/** The values of a map as one array for each state of it. */
function listOf<T>(map: ReadonlyMap<unknown, T>): T[] {
  const known = lists.get(map) as T[] | undefined;
  if (known) return known;
  const list = [...map.values()];
  lists.set(map, list);
  return list;
}
const peopleOf = (model: Model): Person[] => listOf(model.people);

function recentOf(model: Model): ReadonlySet<number> {
  const newest = [...model.direct.values()].sort((a, b) => b.newest - a.newest).slice(0, 20);
  return new Set(newest.flatMap(({ place }) => (place.kind === 'direct' ? place.userIds : [])));
}

const wildcards = ['all', 'everyone', 'channel', 'topic'];

export function suggestMentions(query: string, isSilent: boolean, around: Surroundings): Suggestion[] {
  const sign = isSilent ? '@_' : '@';
  const people = findPartners(query, around).map((person) => ({
    key: `person ${person.id}`,
    label: person.name,
    detail: person.isBot ? t('bot') : '',
    insert: `${sign}**${mentionName(person, around.model)}** `,
  }));
  const groups = best(groupsOf(around.model), query, () => 0).map(({ name, members }) => ({
    key: `group ${name}`,
    label: name,
    detail: t('groupOf', { count: members.size }),
    insert: `${sign}*${name}* `,
  }));
  const isTopic = around.place?.kind !== 'direct';
  const many = (isSilent ? [] : wildcards)
    .filter((name) => (isTopic || name === 'all') && name.startsWith(plain(query)))
    .map((name) => ({
      key: `wildcard ${name}`,
      label: name,
      detail: name === 'topic' ? t('everybodyWhoWroteInThisTopic') : t('everybodyHere'),
      insert: `@**${name}** `,
    }));
  // Two places are reserved for groups, even if many people match.
  return [...people.slice(0, shown - Math.min(2, groups.length)), ...groups, ...many].slice(0, shown);
}

const namedTwice = new WeakMap<object, ReadonlySet<string>>();

/** With the number of the person if two have the name, or if the name contains signs of a mention. */
function mentionName({ id, name }: Person, model: Model): string {
  let twice = namedTwice.get(model.people);
  if (!twice) {
    const seen = new Set<string>();
    twice = new Set(
      peopleOf(model).flatMap(({ name: one }) =>
        seen.size === seen.add(one.toLowerCase()).size ? [one.toLowerCase()] : [],
      ),
    );
    namedTwice.set(model.people, twice);
  }
  const isPlain = !twice.has(name.toLowerCase()) && !/[*|`\n]/.test(name) && !wildcards.includes(name.toLowerCase());
  if (isPlain) return name;
  return /[*`\n]/.test(name) ? `|${id}` : `${name}|${id}`;
}

const groupLists = new WeakMap<object, Indexed<Group>[]>();
function groupsOf({ writing: { groups } }: Model): Indexed<Group>[] {
  const known = groupLists.get(groups);
  if (known) return known;
  const list = [...groups.values()].filter(({ isSystem }) => !isSystem);
  const index = indexOf(list, nameOf);
  groupLists.set(groups, index);
  return index;
}

export const findChannels = (query: string, model: Model, count = shown): Channel[] =>
  best(
    indexOf(listOf(model.channels), nameOf),
    query,
    ({ isPinned, isMuted }) => Number(isPinned) - Number(isMuted),
    count,
  );

/** Channels that the reader has not joined. */
function findOthers(query: string, { channels, listed }: Model): KnownChannel[] {
  if (!listed) return [];
  const bonusOf = ({ id }: KnownChannel): number => (channels.has(id) ? Number.NEGATIVE_INFINITY : 0);
  return best(indexOf(listOf(listed), nameOf), query, bonusOf).filter(({ id }) => !channels.has(id));
}

export const suggestChannels = (query: string, model: Model): Suggestion[] =>
  [...findChannels(query, model), ...findOthers(query, model)].slice(0, shown).map((channel) => ({
    key: `channel ${channel.id}`,
    label: `#${channel.name}`,
    detail: channel.isPrivate ? t('privateChannel') : '',
    insert: `${linkOf(channel)} `,
  }));

/** Signs that end or begin something else within a link to a conversation. */
const isAwkward = (name: string): boolean => /[`>*&]|\$\$/.test(name);
const escaped = (name: string): string => name.replace(/[`>*&$[\]\\<]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function linkOf({ id, name }: KnownChannel, topic?: string): string {
  if (!isAwkward(name) && !(topic !== undefined && isAwkward(topic)))
    return topic === undefined ? `#**${name}**` : `#**${name}>${topic}**`;
  const address = topic === undefined ? '' : `/topic/${encodeURIComponent(topic).replace(/[.%()!'*~]/g, dotted)}`;
  return `[#${escaped(name)}${topic === undefined ? '' : ` > ${escaped(topic)}`}](#narrow/channel/${id}${address})`;
}
/** In these links a dot stands for a percent sign. */
const dotted = (sign: string): string =>
  sign === '%' ? '.' : `.${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

export function channelNamed(name: string, { channels, listed }: Model): KnownChannel | undefined {
  const wanted = name.toLowerCase();
  const isWanted = (channel: KnownChannel): boolean => channel.name.toLowerCase() === wanted;
  return listOf(channels).find(isWanted) ?? (listed && listOf(listed).find(isWanted));
}

export const findTopics = (query: string, topics: readonly string[], count = shown): string[] =>
  best(indexOf(topics, String, true), query, () => 0, count);

export const suggestTopics = (query: string, channel: KnownChannel, topics: readonly string[]): Suggestion[] =>
  findTopics(query, topics).map((topic) => ({
    key: `topic ${topic}`,
    label: topic === '' ? t('generalChat') : topic,
    detail: `#${channel.name}`,
    insert: `${linkOf(channel, topic)} `,
  }));

export interface Emoji {
  name: string;
  /** The Unicode characters; empty for custom emoji of the organization. */
  mark: string;
}

export const suggestEmoji = (query: string, emoji: readonly Emoji[]): Suggestion[] =>
  best(indexOf(emoji, emojiText), query.replaceAll('_', ' '), ({ name }) => -name.length / 100).map(
    ({ name, mark }) => ({ key: `emoji ${name}`, label: `:${name}:`, detail: '', mark, insert: `:${name}: ` }),
  );
const emojiText = ({ name }: Emoji): string => name.replaceAll('_', ' ');

const commands = [
  { name: 'me', detail: t('sayWhatYouDo'), insert: '/me ' },
  { name: 'poll', detail: t('askAQuestionWithAnswersToChoose'), insert: '/poll ' },
  { name: 'todo', detail: t('beginAListOfTasks'), insert: '/todo ' },
];
export const suggestCommands = (query: string): Suggestion[] =>
  commands
    .filter(({ name }) => name.startsWith(query.toLowerCase()))
    .map(({ name, detail, insert }) => ({ key: `command ${name}`, label: `/${name}`, detail, insert }));
