import { t } from '../text/text.ts';
import type { Model } from './model.ts';
import type { Term } from './place.ts';

/** Operators of a search, with their meanings. Operators with values take one of those alone. */
export const operators: readonly { name: string; meaning: string; values?: readonly string[] }[] = [
  { name: 'channel', meaning: t('messagesOfAChannel') },
  { name: 'topic', meaning: t('messagesOfATopic') },
  { name: 'sender', meaning: t('messagesThatAPersonWrote') },
  { name: 'dm', meaning: t('theConversationWithAPerson') },
  { name: 'dm-including', meaning: t('directMessagesWithAPersonAmongOthers') },
  { name: 'mentions', meaning: t('messagesThatMentionAPerson') },
  {
    name: 'has',
    meaning: t('messagesWithALinkPictureFileOr'),
    values: ['link', 'image', 'attachment', 'reaction'],
  },
  {
    name: 'is',
    meaning: t('starredUnreadMentionedAndOtherMessages'),
    values: ['starred', 'unread', 'mentioned', 'dm', 'resolved', 'followed', 'muted', 'alerted'],
  },
  { name: 'id', meaning: t('oneMessage') },
];

const known = new Set([...operators.map(({ name }) => name), 'in', 'near', 'with', 'channels']);

export const isOperator = (name: string): boolean => known.has(name);

/** Whether operands of an operator are people; their ids stand in the text. */
export const namesPeople = (operator: string): boolean =>
  ['sender', 'dm', 'dm-including', 'mentions'].includes(operator);

/** Within quotation marks, a backslash stands before a mark or a backslash of the text. */
const quoted = (text: string): string =>
  /[\s"]/.test(text) || text === '' ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
const unquoted = (text: string): string => text.replaceAll(/\\(["\\])/g, '$1');

/** The text of a search, from which `termsOfText` makes the same terms. */
export function textOf(terms: readonly Term[]): string {
  return terms
    .map(({ operator, operand, negated = false }) => {
      if (operator === 'search') return String(operand);
      const text = Array.isArray(operand) ? operand.join(',') : String(operand);
      return `${negated ? '-' : ''}${operator}:${quoted(text)}`;
    })
    .join(' ');
}

/** No two alternatives match the same sign, so the time is linear. Without another mark, the last one is no part of the text. */
const part =
  /(-?)([a-z-]+):(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|"((?:\\["\\]|\\(?!["\\])|[^"\\])*\\)"|(\S+))|"[^"]*"|\S+/giu;

/** The terms of a search text. All words that are not operators form one term. */
export function termsOfText(text: string): Term[] {
  const terms: Term[] = [];
  const words: string[] = [];
  for (const [whole, minus, name = '', closed, open, bare] of text.matchAll(part)) {
    const inQuotes = closed ?? open;
    const operator = name.toLowerCase();
    if (!known.has(operator)) words.push(whole);
    else {
      const term = {
        operator,
        operand: operandOf(operator, inQuotes === undefined ? (bare ?? '') : unquoted(inQuotes)),
      };
      terms.push(minus === '-' ? { ...term, negated: true } : term);
    }
  }
  return words.length === 0 ? terms : [...terms, { operator: 'search', operand: words.join(' ') }];
}

function operandOf(operator: string, text: string): Term['operand'] {
  if (operator === 'dm' || operator === 'dm-including')
    return /^\d+(,\d+)*$/.test(text) ? text.split(',').map(Number) : text;
  return /^\d{1,15}$/.test(text) && operator !== 'topic' ? Number(text) : text;
}

/** A term as people read it. */
export function labelOf({ operator, operand, negated = false }: Term, model: Model): string {
  const ids = Array.isArray(operand) ? operand : typeof operand === 'number' ? [operand] : [];
  const names = ids.map((id) => {
    if (operator === 'channel')
      return (model.channels.get(id) ?? model.archived.get(id) ?? model.listed?.get(id))?.name ?? String(id);
    return namesPeople(operator) ? (model.people.get(id)?.name ?? String(id)) : String(id);
  });
  const term = `${operator}: ${names.length > 0 ? names.join(', ') : operand}`;
  return negated ? t('notTerm', { term }) : term;
}
