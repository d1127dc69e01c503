import { type Audience, hasId, idSet } from '@natter/contracts';
import { BasisChanged, type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { channelBasis } from './channel-reach.ts';
import type { ReadableMessage } from './message-reach.ts';
import { hasProtectedHistory, whoSees } from './subscription-periods.ts';

/** Who hears of changes to a message: its participants, or who is subscribed to its channel and sees it there. */
export async function audienceOf(executor: Executor, realmId: number, message: ReadableMessage): Promise<Audience> {
  const { channel } = message;
  if (!channel) return { users: idSet(message.recipient_ids ?? []) };
  if (!hasProtectedHistory(channel)) return { users: channel.subscribers };
  const present = await whoSees(executor, realmId, message.id);
  return { users: idSet(present.filter((id) => hasId(channel.subscribers, id))) };
}

/** Keeps the message until the commit as it was decided on: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.restOn(channelBasis(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new BasisChanged(`message ${message.id}`);
}
