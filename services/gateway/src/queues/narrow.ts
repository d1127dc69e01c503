import { type LoggedMessage, type QueueRecord, topicOfName } from '@natter/contracts';

/** Whether a message matches all terms of the queue's narrow. A narrow only restricts what its user receives. */
export function passesNarrow(queue: QueueRecord, message: LoggedMessage, flags: readonly string[]): boolean {
  if (queue.narrow.length === 0) return true;
  return queue.narrow.every(
    ({ operator, operand, negated }) => holds(message, flags, operator, operand.toLowerCase()) !== negated,
  );
}

function holds(message: LoggedMessage, flags: readonly string[], operator: string, wanted: string): boolean {
  const isInChannel = message.type === 'stream';
  switch (operator) {
    case 'channel':
    case 'stream':
      return isInChannel && message.display_recipient.toLowerCase() === wanted;
    case 'topic':
      return isInChannel && [wanted, topicOfName(wanted)].includes(message.subject.toLowerCase());
    case 'sender':
    case 'from':
      return message.sender_email.toLowerCase() === wanted;
    default:
      if (wanted === 'dm' || wanted === 'private') return message.type === 'private';
      if (wanted === 'unread') return !flags.includes('read');
      if (wanted === 'resolved') return isInChannel && message.subject.startsWith('✔ ');
      if (wanted === 'mentioned')
        return flags.some((flag) => flag === 'mentioned' || flag.endsWith('wildcard_mentioned'));
      return flags.includes(wanted === 'alerted' ? 'has_alert_word' : wanted);
  }
}
