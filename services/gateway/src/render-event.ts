import {
  type Audience,
  emptyTopicDisplayName,
  hasId,
  idsPerNumber,
  type ListPart,
  type LogEntry,
  type QueueRecord,
} from '@natter/contracts';

export const eventId = (queue: QueueRecord, position: { number: number; n: number }): number =>
  (position.number - queue.start) * idsPerNumber + position.n;

/** The event as this queue's client sees it, or undefined when it is not for this queue. */
export function renderFor(queue: QueueRecord, entry: LogEntry): Record<string, unknown> | undefined {
  const { event } = entry;
  if (hiddenTypes.has(event.type)) return undefined;
  if (queue.event_types !== null && !queue.event_types.includes(event.type)) return undefined;
  // The old form is for those who do not know the new one.
  if (event.type === 'muted_topics' && queue.event_types?.includes('user_topic')) return undefined;
  // What was ephemeral before the queue began is over.
  if (entry.n > 0 && entry.at < queue.created_at) return undefined;
  const isFor = reaches(event.audience, queue.user_id);
  const isOpen = queue.all_public_streams && event.message?.isPublic === true;
  if (!isFor && !isOpen) return undefined;
  if (event.message && !passesNarrow(queue, entry)) return undefined;
  const id = eventId(queue, entry);
  const named = { type: event.type, ...(event.op === undefined ? {} : { op: event.op }) };
  if (event.message) return { ...named, ...renderMessage(queue, entry), id };
  let body = event.body;
  for (const variant of event.variants ?? [])
    if (reaches(variant.audience, queue.user_id)) body = { ...body, ...variant.patch };
  for (const part of event.parts ?? []) if (isPartFor(part, queue)) body = withItems(body, part);
  let seen: Record<string, unknown> = { ...named, ...body };
  for (const { capability, is, patch } of event.forms ?? []) {
    if ((queue.capabilities[capability] ?? false) !== is) continue;
    if (patch === null) return undefined;
    seen = { ...seen, ...patch };
  }
  return { ...seen, id };
}

const isPartFor = ({ audience, capability, is }: ListPart, queue: QueueRecord): boolean =>
  reaches(audience, queue.user_id) &&
  (capability === undefined || (queue.capabilities[capability] ?? false) === (is ?? true));

function withItems(body: Record<string, unknown>, { list, items }: ListPart): Record<string, unknown> {
  const shared = body[list] as Record<string, unknown>[];
  return { ...body, [list]: shared.map((item, index) => ({ ...item, ...items[index] })) };
}

/** What only services read. */
const hiddenTypes = new Set(['tick', 'credentials_changed']);

function reaches(audience: Audience, userId: number): boolean {
  if (audience === 'realm') return true;
  return hasId(audience.users, userId) && !(audience.except && hasId(audience.except, userId));
}

function renderMessage(queue: QueueRecord, entry: LogEntry): Record<string, unknown> {
  const part = entry.event.message;
  const message = entry.event.body.message as Record<string, unknown>;
  const isEmptyTopic = message.type === 'stream' && message.subject === '';
  return {
    message: {
      ...message,
      id: entry.number,
      ...(queue.apply_markdown ? {} : { content: part?.source, content_type: 'text/x-markdown' }),
      ...(queue.client_gravatar ? { avatar_url: null } : {}),
      ...(isEmptyTopic && !queue.capabilities.empty_topic_name ? { subject: emptyTopicDisplayName } : {}),
    },
    flags: flagsOf(entry, queue.user_id),
    ...(part?.local?.queueId === queue.queue_id ? { local_message_id: part.local.localId } : {}),
  };
}

const flagsOf = (entry: LogEntry, userId: number): string[] =>
  (entry.event.message?.flags ?? []).filter(({ users }) => hasId(users, userId)).map(({ flag }) => flag);

function passesNarrow(queue: QueueRecord, entry: LogEntry): boolean {
  const message = entry.event.body.message as Record<string, unknown>;
  return queue.narrow.every(({ operator, operand, negated }) => {
    const wanted = operand.toLowerCase();
    const flags = flagsOf(entry, queue.user_id);
    const holds = (): boolean => {
      switch (operator) {
        case 'channel':
        case 'stream':
          return message.type === 'stream' && String(message.display_recipient).toLowerCase() === wanted;
        case 'topic':
          return message.type === 'stream' && String(message.subject).toLowerCase() === wanted;
        case 'sender':
          return String(message.sender_email).toLowerCase() === wanted;
        default:
          if (wanted === 'dm' || wanted === 'private') return message.type === 'private';
          if (wanted === 'unread') return !flags.includes('read');
          if (wanted === 'resolved') return String(message.subject).startsWith('✔ ');
          return flags.includes(wanted === 'alerted' ? 'has_alert_word' : wanted);
      }
    };
    return holds() !== negated;
  });
}
