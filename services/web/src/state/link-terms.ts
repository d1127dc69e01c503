import { type Narrow, type Term, topicPlace } from './place.ts';
import { isOperator } from './query.ts';

/** The target of a link. */
export interface Target {
  narrow: Narrow;
  /** The message at which the page opens. */
  near: number | undefined;
  /** A message of the conversation, which may have another name by now. */
  of: number | undefined;
}

/** Operators by their alternative names. */
const sameAs: Readonly<Record<string, string>> = {
  stream: 'channel',
  streams: 'channels',
  subject: 'topic',
  from: 'sender',
  'pm-with': 'dm',
};

/** The target of a link between messages, as the server renders them: `channel/2-general/topic/welcome/near/52`. */
export function targetOfFragment(fragment: string): Target | undefined {
  const all = termsOfFragment(fragment);
  const numberOf = (...names: string[]): number | undefined =>
    all.flatMap(({ operator, operand }) => (names.includes(operator) ? [Number(operand)] : [])).find(isId);
  const conditions = all.filter(({ operator }) => operator !== 'near' && operator !== 'with');
  const others = conditions.filter(({ operator, negated }) => operator !== 'id' || negated);
  const narrow = placeOfTerms(others);
  if (narrow) return { narrow, near: numberOf('near', 'id'), of: numberOf('with') };
  return conditions.length === 0
    ? undefined
    : { narrow: { kind: 'search', terms: conditions }, near: undefined, of: undefined };
}

const isId = (value: number): boolean => Number.isSafeInteger(value) && value > 0;

function termsOfFragment(fragment: string): Term[] {
  const parts = fragment.split('/');
  return parts.flatMap((part, at) => {
    if (at % 2 === 1) return [];
    const negated = part.startsWith('-');
    const name = negated ? part.slice(1) : part;
    const operator = sameAs[name] ?? name;
    // Words cannot be excluded.
    if (operator === 'search' ? negated : !isOperator(operator)) return [];
    const operand = operandOf(operator, decodeDots(parts[at + 1] ?? ''));
    return [{ operator, operand, ...(negated ? { negated } : {}) }];
  });
}

/** Numbers of people and channels are followed by names: `2-general`. */
function operandOf(operator: string, text: string): Term['operand'] {
  if (operator === 'topic' || operator === 'search') return text;
  const [, numbers = ''] = /^(\d{1,15}(?:,\d{1,15})*)(?:-.*)?$/s.exec(text) ?? [];
  const ids = numbers === '' ? [] : numbers.split(',').map(Number);
  if (operator === 'dm' || operator === 'dm-including') return ids.length > 0 ? ids.sort((a, b) => a - b) : text;
  const [id] = ids;
  return id !== undefined && ids.length === 1 ? id : text;
}

/** The list that exactly these conditions describe; undefined if it is found by a search only. */
function placeOfTerms(terms: readonly Term[]): Narrow | undefined {
  if (terms.some(({ negated }) => negated)) return undefined;
  const operators = terms.map(({ operator }) => operator).sort();
  const operandOfFirst = (name: string) => terms.find(({ operator }) => operator === name)?.operand;
  const [channelId, topic] = [operandOfFirst('channel'), operandOfFirst('topic')];
  const [people, is] = [operandOfFirst('dm'), operandOfFirst('is')];
  switch (operators.join(' ')) {
    case 'channel':
      return typeof channelId === 'number' ? { kind: 'channel', channelId } : undefined;
    case 'channel topic':
      return typeof channelId === 'number' ? topicPlace(channelId, String(topic)) : undefined;
    case 'dm':
      return Array.isArray(people) ? { kind: 'direct', userIds: people } : undefined;
    case 'is':
      return is === 'starred' ? { kind: 'starred' } : is === 'mentioned' ? { kind: 'mentions' } : undefined;
    default:
      return undefined;
  }
}

/** In these links a dot stands for a percent sign. */
function decodeDots(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\.([0-9A-F]{2})/gi, '%$1'));
  } catch {
    return text;
  }
}
