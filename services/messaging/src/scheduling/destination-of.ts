import type { Decided } from '@natter/database';
import { z } from 'zod';

const decidedMessage = z.object({
  type: z.enum(['stream', 'private']),
  subject: z.string(),
  content: z.string(),
  stream_id: z.number().optional(),
  display_recipient: z.union([z.string(), z.array(z.looseObject({ id: z.number() }))]),
});

export interface DecidedDestination {
  channelId: number | null;
  /** All participants of a direct message. */
  recipientIds: number[] | null;
  topic: string;
  rendered: string;
  content: string;
}

/** Where a decided send goes, and what it says: what a scheduled message keeps of it. */
export function destinationOf(decided: Decided): DecidedDestination {
  const event = decided.events.find(({ type }) => type === 'message');
  const message = decidedMessage.parse(event?.body.message);
  return {
    channelId: message.type === 'stream' ? (message.stream_id ?? null) : null,
    recipientIds:
      typeof message.display_recipient === 'string' ? null : message.display_recipient.map((person) => person.id),
    topic: message.subject,
    rendered: message.content,
    content: event?.message?.source ?? '',
  };
}
