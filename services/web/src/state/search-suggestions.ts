import { findTopics } from './completion.ts';
import type { KnownChannel } from './listed.ts';
import type { Model } from './model.ts';
import type { Term } from './place.ts';
import { namesPeople, operators, termsOfText } from './query.ts';
import { resolveNames } from './query-names.ts';

const shown = 8;

type Operator = (typeof operators)[number];

export interface SearchSuggestion {
  key: string;
  label: string;
  hint: string;
  /** Start of the replaced text. */
  from: number;
  /** A replacement of the text from there; a term makes a chip. */
  result: { text: string } | { term: Term };
  /** Whether the text is its whole name, which has several words. */
  isWhole?: boolean;
}

interface OpenTerm {
  operator: Operator;
  minus: string;
  /** The operand as typed. It may have several words, even without quotation marks. */
  start: string;
  from: number;
  isQuoted: boolean;
}

type Topics = () => readonly string[];

/** The term at the end of the text whose operand is being typed. */
function openTerm(text: string): OpenTerm | undefined {
  const last = [...text.matchAll(/(?<=^|\s)(-?)([a-z-]+):/gi)].at(-1);
  const operator = operators.find(({ name }) => name === last?.[2]?.toLowerCase());
  if (!last || !operator) return undefined;
  const rest = text.slice(last.index + last[0].length);
  const isQuoted = rest.startsWith('"');
  const start = isQuoted ? rest.slice(1) : rest;
  return start.includes('"') ? undefined : { operator, minus: last[1] ?? '', start, from: last.index, isQuoted };
}

/** The channel whose topics are meant: of the last condition that names one. Undefined while no topic is being typed. */
export function channelOfTopic(text: string, chips: readonly Term[], model: Model): number | undefined {
  const open = openTerm(text);
  if (open?.operator.name !== 'topic') return undefined;
  const { terms } = resolveNames([...chips, ...termsOfText(text.slice(0, open.from))], model);
  const channel = terms.findLast(({ operator, negated }) => operator === 'channel' && !negated)?.operand;
  return typeof channel === 'number' ? channel : undefined;
}

/** The suggestions for the end of a search text. `topics`: the possible topics. */
export function suggestionsFor(text: string, model: Model, topics: Topics): SearchSuggestion[] {
  const open = openTerm(text);
  const found = open ? operandsOf(open, model, topics) : [];
  // A space ends the operand, unless the text after it continues a name.
  if (open && (found.length > 0 || open.isQuoted || !/\s/.test(open.start))) return found;
  const word = /\S*$/.exec(text)?.[0] ?? '';
  const wanted = word.replace(/^-/, '').toLowerCase();
  return operators
    .filter((one) => one.name.startsWith(wanted))
    .map((one) => ({
      key: one.name,
      label: `${one.name}:`,
      hint: one.meaning,
      from: text.length - word.length,
      result: { text: `${word.startsWith('-') ? '-' : ''}${one.name}:` },
    }));
}

function operandsOf(open: OpenTerm, model: Model, topics: Topics): SearchSuggestion[] {
  const { operator, minus, start, from } = open;
  const typed = start.trim().toLowerCase();
  return choicesOf(open, model, topics)
    .slice(0, shown)
    .map(({ operand, label }) => ({
      key: `${operator.name} ${operand}`,
      label: `${minus}${operator.name}: ${label}`,
      hint: '',
      from,
      result: { term: { operator: operator.name, operand, ...(minus === '-' ? { negated: true } : {}) } },
      isWhole: /\s/.test(typed) && label.toLowerCase() === typed,
    }));
}

interface Choice {
  operand: string | number;
  label: string;
}

function choicesOf({ operator, start, isQuoted }: OpenTerm, model: Model, topics: Topics): Choice[] {
  const { name, values } = operator;
  const choice = (text: string): Choice => ({ operand: text, label: text });
  if (values) return values.filter((one) => one.startsWith(start.toLowerCase())).map(choice);
  if (name === 'channel') {
    const all = new Map<number, KnownChannel>([...model.channels, ...(model.listed ?? [])]);
    return byName([...all.values()], start);
  }
  if (namesPeople(name)) {
    const own = start.toLowerCase() === 'me' ? model.people.get(model.ownId) : undefined;
    const others = byName([...model.people.values()], start).filter(({ operand }) => operand !== own?.id);
    return own ? [{ operand: own.id, label: own.name }, ...others] : others;
  }
  const known = name === 'topic' ? findTopics(start, topics()).filter((topic) => topic !== '') : [];
  const isOwn = start !== '' && !known.includes(start) && (isQuoted || !/\s/.test(start));
  return [...known, ...(isOwn ? [start] : [])].map(choice);
}

/** First the names that begin with a text, then those that contain it. */
function byName(all: readonly { id: number; name: string }[], start: string): Choice[] {
  const wanted = start.toLowerCase();
  const rank = (name: string): number => {
    const at = name.toLowerCase().indexOf(wanted);
    return at > 0 ? 1 : at;
  };
  return all
    .filter(({ name }) => rank(name) >= 0)
    .sort((a, b) => rank(a.name) - rank(b.name))
    .map(({ id, name }) => ({ operand: id, label: name }));
}
