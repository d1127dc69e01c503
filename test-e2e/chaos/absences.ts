import type { Answer } from '../api.ts';

/**
 * When a person was not subscribed to a channel. Who subscribes to a public channel, also again, has its earlier messages
 * in the feed, but they were never delivered to a queue.
 */
export interface Absences {
  /** Each event of the person's queue, in order. */
  follow(event: Answer): void;
  /** Whether the message was sent to the channel during an absence. */
  cover(channelId: number | undefined, messageId: number): boolean;
}

interface Absence {
  channelId: number;
  /** The last message that came before. */
  after: number;
  /** The first message that came when the person was subscribed again. */
  before: number;
  hasEnded: boolean;
}

export function createAbsences(): Absences {
  const all: Absence[] = [];
  let last = 0;
  const isOpen = (channelId: number) => (one: Absence) => one.channelId === channelId && !one.hasEnded;

  return {
    follow({ type, op, message, subscriptions }) {
      if (type === 'message') {
        for (const one of all) if (one.hasEnded) one.before = Math.min(one.before, message.id);
        last = Math.max(last, message.id);
      }
      if (type !== 'subscription') return;
      for (const { stream_id: channelId } of subscriptions ?? []) {
        const open = all.find(isOpen(channelId));
        if (op === 'remove' && !open)
          all.push({ channelId, after: last, before: Number.POSITIVE_INFINITY, hasEnded: false });
        if (op !== 'add') continue;
        if (open) open.hasEnded = true;
        // The person was not subscribed when the queue began.
        else all.push({ channelId, after: 0, before: Number.POSITIVE_INFINITY, hasEnded: true });
      }
    },
    cover: (channelId, messageId) =>
      all.some((one) => one.channelId === channelId && messageId > one.after && messageId < one.before),
  };
}
