import type { Decided } from '@natter/database';

export interface DecidedDestination {
  channelId: number | null;
  /** All participants of a direct message. */
  recipientIds: number[] | null;
  topic: string;
  rendered: string;
  content: string;
}

/** Destination and content of a decided send, as stored for a scheduled message. */
export function destinationOf(decided: Decided): DecidedDestination {
  const event = decided.events.find((one) => one.type === 'message');
  if (!event) throw new Error('A decided send has no message');
  const { message } = event.body;
  return {
    channelId: message.type === 'stream' ? message.stream_id : null,
    recipientIds: message.type === 'stream' ? null : message.display_recipient.map((person) => person.id),
    topic: message.subject,
    rendered: message.content,
    content: event.message?.source ?? '',
  };
}
