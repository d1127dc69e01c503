import { badRequest, briefly, ChatError, cut, perRequest, topicOfName } from '@natter/contracts';
import { z } from 'zod';
import { phrasesOf } from './search-query.ts';

/** One condition of a narrow, under its current operator name. */
export type Term = { negated: boolean } & (
  | { operator: 'channel'; operand: string | number }
  | { operator: 'channels'; operand: 'public' | 'web-public' }
  | { operator: 'topic'; operand: string }
  | { operator: 'sender'; operand: string | number }
  | { operator: 'dm'; operand: (string | number)[] }
  | { operator: 'dm-including' | 'group-pm-with'; operand: (string | number)[] }
  | { operator: 'is'; operand: IsOperand }
  | { operator: 'has'; operand: 'link' | 'image' | 'attachment' | 'reaction' }
  | { operator: 'in'; operand: 'home' | 'all' }
  | { operator: 'near'; operand: number }
  | { operator: 'id'; operand: number }
  | { operator: 'with'; operand: number }
  | { operator: 'mentions'; operand: string | number }
  | { operator: 'search'; operand: string }
);
type IsOperand = 'dm' | 'starred' | 'unread' | 'mentioned' | 'alerted' | 'resolved' | 'followed' | 'muted';

/** Operators and operands may be long. */
const maxDesc = 200;

export function badNarrow(problem: string): ChatError {
  const desc = cut(problem, maxDesc);
  return new ChatError('BAD_NARROW', `Invalid narrow operator: ${desc}`, { desc });
}

const elementSchema = z.union([
  z.tuple([z.string(), z.unknown()]).transform(([operator, operand]) => ({ operator, operand, negated: false })),
  z.object({ operator: z.string(), operand: z.unknown(), negated: z.boolean().optional().default(false) }),
]);

const aliases = new Map(
  Object.entries({
    stream: 'channel',
    streams: 'channels',
    subject: 'topic',
    from: 'sender',
    'pm-with': 'dm',
    pm_with: 'dm',
    group_pm_with: 'group-pm-with',
    'pm-including': 'dm-including',
    dm_including: 'dm-including',
  }),
);

const text = z.string();
const id = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.int()),
]);
const nameOrId = z.union([z.int(), z.string()]);
const people = z.union([
  z.array(nameOrId),
  z.int().transform((one) => [one]),
  z
    .string()
    .transform((list) =>
      list
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    )
    .refine((list) => list.length > 0),
]);
const operands: Readonly<Record<string, z.ZodType>> = {
  channel: nameOrId,
  channels: z.enum(['public', 'web-public']),
  topic: text.transform(topicOfName),
  sender: nameOrId,
  dm: people,
  'dm-including': people,
  'group-pm-with': people,
  is: z.preprocess(
    (operand) => (operand === 'private' ? 'dm' : operand),
    z.enum(['dm', 'starred', 'unread', 'mentioned', 'alerted', 'resolved', 'followed', 'muted']),
  ),
  has: z.preprocess(
    (operand) => (typeof operand === 'string' ? operand.replace(/s$/, '') : operand),
    z.enum(['link', 'image', 'attachment', 'reaction']),
  ),
  in: z.enum(['home', 'all']),
  near: id,
  id,
  with: id,
  mentions: nameOrId,
  search: text,
} satisfies Record<Term['operator'], z.ZodType>;

/** Parses the terms of a narrow; throws BAD_NARROW with the problem. `requirePossible` checks them together. */
export function parseNarrow(given: unknown): Term[] {
  const list = z.array(z.unknown()).safeParse(given ?? []);
  if (!list.success) throw badNarrow('narrow is not a list');
  if (list.data.length > perRequest.narrowTerms) throw badNarrow(`more than ${perRequest.narrowTerms} terms`);
  const terms = list.data.map((element) => {
    const parsed = elementSchema.safeParse(element);
    if (!parsed.success) throw badNarrow('element is not a term');
    const { negated } = parsed.data;
    const operator = aliases.get(parsed.data.operator) ?? parsed.data.operator;
    const schema = Object.hasOwn(operands, operator) ? operands[operator] : undefined;
    if (!schema) throw badNarrow(`unknown operator ${parsed.data.operator}`);
    const operand = schema.safeParse(parsed.data.operand);
    if (!operand.success) throw badNarrow(`unknown '${operator}' operand ${briefly(parsed.data.operand)}`);
    if (operator === 'search' && operand.data === '') throw badRequest('operand cannot be blank.');
    return { operator, operand: operand.data, negated } as Term;
  });
  const searched = terms.reduce((sum, term) => sum + (term.operator === 'search' ? term.operand.length : 0), 0);
  if (searched > perRequest.searchLength)
    throw badNarrow(`more than ${perRequest.searchLength} characters to search for`);
  const phrases = new Set(terms.flatMap((term) => (term.operator === 'search' ? phrasesOf(term.operand) : [])));
  if (phrases.size > perRequest.searchPhrases)
    throw badNarrow(`more than ${perRequest.searchPhrases} phrases to search for`);
  return terms;
}

/** Refuses terms that no message fulfils together. */
export function requirePossible(terms: readonly Term[]): void {
  if (terms.some(isOfChannels) && terms.some((term) => !term.negated && isOfDirectMessages(term)))
    throw badNarrow('No message can be both a channel message and direct message');
}

const isOfChannels = (term: Term): boolean =>
  term.negated
    ? term.operator === 'is' && term.operand === 'dm'
    : ['channel', 'channels', 'topic'].includes(term.operator) ||
      (term.operator === 'is' && term.operand === 'resolved');

export const isOfDirectMessages = (term: Term): boolean =>
  ['dm', 'dm-including', 'group-pm-with'].includes(term.operator) || (term.operator === 'is' && term.operand === 'dm');
