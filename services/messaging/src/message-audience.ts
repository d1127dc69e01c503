import type { Audience } from '@natter/contracts';
import { idSet } from '@natter/contracts';
import { BasisChanged, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { channelBasis } from './channel-reach.ts';
import type { ReadableMessage } from './message-reach.ts';

/** Who hears of changes to a message: its participants, or who is subscribed to its channel. */
export function audienceOf(message: ReadableMessage): Audience {
  if (message.channel) return { users: message.channel.subscribers };
  return { users: idSet(message.recipient_ids ?? []) };
}

/** Keeps the message until the commit as it was decided on: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.restOn(channelBasis(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new BasisChanged(`message ${message.id}`);
}
