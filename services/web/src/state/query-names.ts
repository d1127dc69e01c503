import type { Model } from './model.ts';
import type { Term } from './place.ts';
import { namesPeople } from './query.ts';

type Names = Pick<Model, 'ownId' | 'people' | 'channels' | 'archived' | 'listed'>;

/** A name in a search that fits nobody and nothing, or several. */
export interface NameProblem {
  of: 'person' | 'channel';
  fits: 'none' | 'several';
  name: string;
}

interface Resolved {
  /** The terms, with the numbers of people and channels for their names. Names that are not found stay. */
  terms: Term[];
  problem: NameProblem | undefined;
  /** Whether a channel can be identified only once all channels are known. */
  isOpen: boolean;
}

/** Replaces the names that people type in a search: whole ones, or beginnings that fit one person or channel. */
export function resolveNames(terms: readonly Term[], names: Names): Resolved {
  let problem: NameProblem | undefined;
  let isOpen = false;
  const idOf = (of: NameProblem['of'], name: string): number | undefined => {
    const ids = of === 'person' ? peopleCalled(name, names) : channelsCalled(name, names);
    if (of === 'channel' && !ids.isWhole && !names.listed) isOpen = true;
    // Names with "@" are sent to the server, because the page does not have all addresses.
    else if (ids.all.length !== 1 && !(of === 'person' && name.includes('@')))
      problem ??= { of, fits: ids.all.length === 0 ? 'none' : 'several', name };
    return ids.all.length === 1 ? ids.all[0] : undefined;
  };
  const resolved = terms.map((term): Term => {
    const { operator, operand } = term;
    if (typeof operand !== 'string') return term;
    if (operator === 'channel') return { ...term, operand: idOf('channel', operand) ?? operand };
    if (!namesPeople(operator)) return term;
    if (operator !== 'dm' && operator !== 'dm-including')
      return { ...term, operand: idOf('person', operand) ?? operand };
    const isOne = peopleCalled(operand, names).isWhole;
    const ids = (isOne ? [operand] : operand.split(',')).map((name) => idOf('person', name.trim()));
    const known = ids.filter((id) => id !== undefined);
    return known.length < ids.length ? term : { ...term, operand: [...new Set(known)].sort((a, b) => a - b) };
  });
  return { terms: resolved, problem, isOpen: isOpen && problem === undefined };
}

interface Found {
  all: number[];
  /** Whether a whole name was given. */
  isWhole: boolean;
}

function peopleCalled(name: string, { ownId, people }: Names): Found {
  if (name.toLowerCase() === 'me') return { all: [ownId], isWhole: true };
  if (/^\d{1,15}$/.test(name)) return { all: [Number(name)], isWhole: true };
  return calledSo(name, people.values());
}

const channelsCalled = (name: string, { channels, archived, listed = new Map() }: Names): Found =>
  calledSo(name.replace(/^#/, ''), new Map<number, Named>([...listed, ...archived, ...channels]).values());

interface Named {
  id: number;
  name: string;
}

function calledSo(name: string, all: Iterable<Named>): Found {
  const wanted = name.toLowerCase();
  const fitting = [...all].map((one) => ({ id: one.id, text: one.name.toLowerCase() }));
  const whole = fitting.filter(({ text }) => text === wanted);
  const found = whole.length > 0 ? whole : fitting.filter(({ text }) => text.startsWith(wanted));
  return { all: found.map(({ id }) => id), isWhole: whole.length > 0 };
}
