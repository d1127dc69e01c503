import { ChatError, emptyTopicDisplayName, perRequest } from '@natter/contracts';
import { z } from 'zod';

/** One condition of a narrow, under its present name. */
export type Term = { negated: boolean } & (
  | { operator: 'channel'; operand: string | number }
  | { operator: 'channels'; operand: 'public' | 'web-public' }
  | { operator: 'topic'; operand: string }
  | { operator: 'sender'; operand: string | number }
  | { operator: 'dm'; operand: (string | number)[] }
  | { operator: 'dm-including'; operand: (string | number)[] }
  | { operator: 'is'; operand: IsOperand }
  | { operator: 'has'; operand: 'link' | 'image' | 'attachment' | 'reaction' }
  | { operator: 'in'; operand: 'home' | 'all' }
  | { operator: 'near' | 'id' | 'with'; operand: number }
  | { operator: 'mentions'; operand: string | number }
  | { operator: 'search'; operand: string }
);
type IsOperand = 'dm' | 'starred' | 'unread' | 'mentioned' | 'alerted' | 'resolved' | 'followed' | 'muted';

export const badNarrow = (desc: string): ChatError =>
  new ChatError('BAD_NARROW', `Invalid narrow operator: ${desc}`, { desc });

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
    'group-pm-with': 'dm-including',
    group_pm_with: 'dm-including',
    'pm-including': 'dm-including',
    dm_including: 'dm-including',
  }),
);

/** A topic as a reader names it, who may know the empty one by its display name alone, or by what it was before. */
export const emptyIfNamedSo = (topic: string): string =>
  topic === emptyTopicDisplayName || topic === '(no topic)' ? '' : topic;

const text = z.string();
const id = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]);
const nameOrId = z.union([z.int(), z.string()]);
const people = z.union([
  z.array(nameOrId),
  z.int().transform((one) => [one]),
  z.string().transform((list) =>
    list
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
]);
const operands: Record<Term['operator'], z.ZodType> = {
  channel: nameOrId,
  channels: z.enum(['public', 'web-public']),
  topic: text.transform(emptyIfNamedSo),
  sender: nameOrId,
  dm: people,
  'dm-including': people,
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
};

/** `String` calls methods that the sender of an object has named. */
const shown = (operand: unknown): string =>
  (typeof operand === 'string' ? operand : JSON.stringify(operand)).slice(0, 100);

/** The terms of a narrow, or BAD_NARROW with what is wrong (semantics 8). */
export function parseNarrow(given: unknown): Term[] {
  const list = z.array(z.unknown()).safeParse(given ?? []);
  if (!list.success) throw badNarrow('narrow is not a list');
  if (list.data.length > perRequest.narrowTerms) throw badNarrow(`more than ${perRequest.narrowTerms} terms`);
  return list.data.map((element) => {
    const parsed = elementSchema.safeParse(element);
    if (!parsed.success) throw badNarrow('element is not a term');
    const { negated } = parsed.data;
    const operator = aliases.get(parsed.data.operator) ?? parsed.data.operator;
    const schema = Object.hasOwn(operands, operator) ? operands[operator as Term['operator']] : undefined;
    if (!schema) throw badNarrow(`unknown operator ${parsed.data.operator}`);
    const operand = schema.safeParse(parsed.data.operand);
    if (!operand.success) throw badNarrow(`unknown '${operator}' operand ${shown(parsed.data.operand)}`);
    return { operator, operand: operand.data, negated } as Term;
  });
}
