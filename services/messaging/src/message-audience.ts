import { type Audience, hasId, idSet, idsOf } from '@natter/contracts';
import { BasisChanged, type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { channelBasis } from './channel-reach.ts';
import type { ReadableMessage } from './message-reach.ts';
import { guestsAmong } from './standing.ts';
import { hasProtectedHistory, whoSees } from './subscription-periods.ts';

/**
 * Who hears of changes to a message: its participants, or who is subscribed to its channel and sees it there; in an open channel
 * also who flagged it without being subscribed.
 */
export async function audienceOf(executor: Executor, realmId: number, message: ReadableMessage): Promise<Audience> {
  const { channel } = message;
  if (!channel) return { users: idSet(message.recipient_ids ?? []) };
  if (!channel.is_private) {
    const others = (await flaggersOf(executor, realmId, message.id)).filter((id) => !hasId(channel.subscribers, id));
    if (others.length === 0) return { users: channel.subscribers };
    const shutOut = channel.is_web_public ? new Set<number>() : await guestsAmong(executor, realmId, others);
    return { users: idSet([...idsOf(channel.subscribers), ...others.filter((id) => !shutOut.has(id))]) };
  }
  if (!hasProtectedHistory(channel)) return { users: channel.subscribers };
  const present = await whoSees(executor, realmId, message.id);
  return { users: idSet(present.filter((id) => hasId(channel.subscribers, id))) };
}

async function flaggersOf(executor: Executor, realmId: number, messageId: number): Promise<number[]> {
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT DISTINCT user_id FROM messaging.flag WHERE realm_id = ${realmId} AND message_id = ${messageId}`);
  return rows.map((row) => row.user_id);
}

/** Keeps the message until the commit as it was decided on: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.restOn(channelBasis(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new BasisChanged(`message ${message.id}`);
}
