import { emptyTopicDisplayName, type LogEntry, type QueueRecord } from '@natter/contracts';

/** Whether a message lets through all terms of the queue's narrow. A narrow filters what its user gets; it never widens it. */
export function passesNarrow(queue: QueueRecord, entry: LogEntry, flags: readonly string[]): boolean {
  if (queue.narrow.length === 0) return true;
  const message = entry.event.body.message as Record<string, unknown>;
  return queue.narrow.every(
    ({ operator, operand, negated }) => holds(message, flags, operator, operand.toLowerCase()) !== negated,
  );
}

function holds(message: Record<string, unknown>, flags: readonly string[], operator: string, wanted: string): boolean {
  const isInChannel = message.type === 'stream';
  switch (operator) {
    case 'channel':
    case 'stream':
      return isInChannel && String(message.display_recipient).toLowerCase() === wanted;
    case 'topic':
      return isInChannel && [wanted, emptyIfNamedSo(wanted)].includes(String(message.subject).toLowerCase());
    case 'sender':
    case 'from':
      return String(message.sender_email).toLowerCase() === wanted;
    default:
      if (wanted === 'dm' || wanted === 'private') return message.type === 'private';
      if (wanted === 'unread') return !flags.includes('read');
      if (wanted === 'resolved') return isInChannel && String(message.subject).startsWith('✔ ');
      if (wanted === 'mentioned')
        return flags.some((flag) => flag === 'mentioned' || flag.endsWith('wildcard_mentioned'));
      return flags.includes(wanted === 'alerted' ? 'has_alert_word' : wanted);
  }
}

/** Clients that do not know the empty topic know it by this name. */
const emptyIfNamedSo = (topic: string): string =>
  topic === emptyTopicDisplayName || topic === '(no topic)' ? '' : topic;
