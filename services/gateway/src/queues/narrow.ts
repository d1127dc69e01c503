import { type LoggedMessage, type QueueRecord, topicOfName } from '@natter/contracts';

interface Term {
  operator: string;
  /** The operand in lower case. */
  wanted: string;
  /** The topic that the operand selects: for the display name of the empty topic, the empty topic. */
  topic: string;
  negated: boolean;
}

/** Prepared once for each record of a queue, and shared by its copies. */
const prepared = new WeakMap<QueueRecord['narrow'], readonly Term[]>();

function termsOf({ narrow }: QueueRecord): readonly Term[] {
  const known = prepared.get(narrow);
  if (known) return known;
  const terms = narrow.map(({ operator, operand, negated }) => {
    const wanted = operand.toLowerCase();
    return { operator, wanted, topic: topicOfName(wanted), negated };
  });
  prepared.set(narrow, terms);
  return terms;
}

/** A message with its texts in lower case, which all terms compare. */
interface Compared {
  message: LoggedMessage;
  flags: readonly string[];
  channel: string;
  topic: string;
  sender: string;
}

/** Whether a message matches all terms of the queue's narrow. A narrow only restricts what its user receives. */
export function passesNarrow(queue: QueueRecord, message: LoggedMessage, flags: readonly string[]): boolean {
  if (queue.narrow.length === 0) return true;
  const isInChannel = message.type === 'stream';
  const compared = {
    message,
    flags,
    channel: isInChannel ? message.display_recipient.toLowerCase() : '',
    topic: isInChannel ? message.subject.toLowerCase() : '',
    sender: message.sender_email.toLowerCase(),
  };
  return termsOf(queue).every((term) => holds(compared, term) !== term.negated);
}

function holds({ message, flags, channel, topic, sender }: Compared, term: Term): boolean {
  const isInChannel = message.type === 'stream';
  const { wanted } = term;
  switch (term.operator) {
    case 'channel':
    case 'stream':
      return isInChannel && channel === wanted;
    case 'topic':
      return isInChannel && (topic === wanted || topic === term.topic);
    case 'sender':
    case 'from':
      return sender === wanted;
    default:
      if (wanted === 'dm' || wanted === 'private') return message.type === 'private';
      if (wanted === 'unread') return !flags.includes('read');
      if (wanted === 'resolved') return isInChannel && message.subject.startsWith('✔ ');
      if (wanted === 'mentioned')
        return flags.some((flag) => flag === 'mentioned' || flag.endsWith('wildcard_mentioned'));
      return flags.includes(wanted === 'alerted' ? 'has_alert_word' : wanted);
  }
}
