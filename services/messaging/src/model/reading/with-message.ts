import { sql } from '@natter/database';
import { z } from 'zod';
import { createMessageAccess } from '../message-access.ts';
import { channelCopy, isOpenToSpectators } from './channel-copy.ts';
import { badNarrow, type Term } from './narrow/narrow.ts';
import type { Reader } from './reader.ts';

const placeRow = z.object({
  channel_id: z.number().nullable(),
  topic: z.string(),
  recipient_ids: z.array(z.number()).nullable(),
});
const places: readonly Term['operator'][] = ['channel', 'topic', 'dm'];

/**
 * The terms of a narrow `with` a message: the current conversation of the message replaces the one that the narrow
 * names, so that a link to a conversation survives its move. If the message is not accessible, the narrow stays as
 * given if it names a conversation, and is refused otherwise.
 */
export async function inConversation(reader: Reader, terms: readonly Term[]): Promise<readonly Term[]> {
  const [term, ...more] = terms.filter((one) => one.operator === 'with');
  if (!term) return terms;
  if (more.length > 0 || term.negated) throw badNarrow("'with' stands once, and is not negated");
  const others = terms.filter((one) => one !== term);
  const place = await placeOf(reader, term.operand);
  if (place) return [...others.filter((one) => one.negated || !places.includes(one.operator)), ...place];
  const named = others.flatMap(({ operator, negated }) => (negated ? [] : [operator]));
  if (named.includes('dm') || (named.includes('channel') && named.includes('topic'))) return others;
  throw badNarrow("Invalid 'with' operator");
}

async function placeOf(reader: Reader, messageId: number): Promise<Term[] | undefined> {
  const { executor, meta, actor } = reader;
  const message = await executor.maybeOne(sql.type(placeRow)`
    SELECT channel_id, topic, recipient_ids FROM messaging.message WHERE realm_id = ${meta.realmId} AND id = ${messageId}`);
  const isReadable = actor
    ? await createMessageAccess(reader.access)
        .readable(executor, actor, meta, messageId)
        .then(
          () => true,
          () => false,
        )
    : isOpenToSpectators(await channelCopy(executor, meta.realmId, message?.channel_id ?? 0));
  if (!message || !isReadable) return undefined;
  return message.channel_id === null
    ? [{ operator: 'dm', operand: message.recipient_ids ?? [], negated: false }]
    : [
        { operator: 'channel', operand: message.channel_id, negated: false },
        { operator: 'topic', operand: message.topic, negated: false },
      ];
}
