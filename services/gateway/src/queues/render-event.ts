import {
  type Audience,
  emptyTopicDisplayName,
  type Form,
  hasId,
  idsPerNumber,
  internalTypes,
  isUploadedAvatar,
  type ListPart,
  type LogEntry,
  type LogEvent,
  type LoggedMessage,
  type QueueRecord,
  type UnknownUser,
} from '@natter/contracts';
import type { EventTexts } from './event-texts.ts';
import { passesNarrow } from './narrow.ts';

type Message = LogEvent<'message'>;
type NewPerson = LogEvent<'realm_user/add'>;

export const eventId = (queue: QueueRecord, position: { number: number; n: number }): number =>
  (position.number - queue.start) * idsPerNumber + position.n;

/**
 * The event as this queue's client sees it, as JSON; undefined if it is not for this queue. Queues with equal
 * capabilities and an equal view of the event share one of the `texts`; only the id and the receiver's own fields are added.
 * `now` returns milliseconds by the clock of Redis, by which ephemeral events and queues are dated.
 */
export function renderFor(
  texts: EventTexts,
  queue: QueueRecord,
  entry: LogEntry,
  now: () => number,
): string | undefined {
  const { event } = entry;
  if (internalTypes.has(event.type)) return undefined;
  if (queue.event_types !== null && !queue.event_types.includes(event.type)) return undefined;
  if (isSuperseded(queue, event)) return undefined;
  // Ephemeral events from before the start of the queue are outdated, as are recorded ones after a while.
  if (entry.n > 0 && entry.at < startOf(queue, now())) return undefined;
  if (ephemeralTypes.has(event.type) && now() - entry.at > outdatedAfterMs) return undefined;
  const isFor = reaches(event.audience, queue.user_id);
  const isOpen = queue.all_public_streams && event.message?.isPublic === true;
  if (!isFor && !isOpen) return undefined;
  const id = `,"id":${eventId(queue, entry)}}`;
  if (event.type !== 'message') {
    const shared = sharedEvent(texts, queue, event);
    return shared === undefined ? undefined : `${shared}${id}`;
  }
  if (!passesNarrow(queue, messageShownTo(queue, event), flagsOf(event, queue.user_id))) return undefined;
  const shared = sharedMessage(texts, queue, entry, event);
  return shared === undefined ? undefined : `${shared}${ownPart(queue, event)}${id}`;
}

/** How far the clocks of two processes that share one differ at most. */
const clockErrorMs = 1_000;

/** A start after the present is of a clock that was set back since. It counts as unknown. */
const startOf = ({ created_at }: QueueRecord, nowMs: number): number =>
  created_at > nowMs + clockErrorMs ? Number.NEGATIVE_INFINITY : created_at;

/** With the address of its sender as this user sees it: otherwise a narrow would reveal whether a guessed one is right. */
function messageShownTo(queue: QueueRecord, { body: { message }, message: rest }: Message): LoggedMessage {
  const unknown = rest?.unknownSender;
  return unknown && hasId(unknown.to, queue.user_id) ? { ...message, ...senderOf(unknown.shown) } : message;
}

/** Types of events that are recorded only if Redis refuses them. */
const ephemeralTypes: ReadonlySet<string> = new Set(['typing', 'typing_edit_message', 'presence']);
const outdatedAfterMs = 60_000;

/** Older forms of events that the queue receives anyway. */
function isSuperseded(queue: QueueRecord, { type }: LogEvent): boolean {
  if (type === 'muted_topics') return queue.event_types?.includes('user_topic') ?? false;
  if (type === 'update_display_settings' || type === 'update_global_notifications')
    return queue.capabilities.user_settings_object === true;
  return false;
}

function sharedEvent(texts: EventTexts, queue: QueueRecord, event: LogEvent): string | undefined {
  const variants = (event.variants ?? []).filter(({ audience }) => reaches(audience, queue.user_id));
  const parts = (event.parts ?? []).filter((part) => isPartFor(part, queue));
  const forms = (event.forms ?? []).filter((form) => isFormFor(form, queue));
  if (forms.some(({ patch }) => patch === null)) return undefined;
  const isPictureless = queue.client_gravatar && event.type === 'realm_user' && event.op === 'add';
  const profile = [
    ...bits(event.variants, variants),
    '/',
    ...bits(event.parts, parts),
    '/',
    ...bits(event.forms, forms),
    isPictureless ? 'p' : '',
  ];
  return texts.once(event, profile.join(''), () => {
    let body: Record<string, unknown> = event.body;
    for (const { patch } of variants) body = { ...body, ...patch };
    if (isPictureless) body = { ...body, ...withoutPicture(event, queue.user_id) };
    for (const part of parts) body = withItems(body, part);
    let seen: Record<string, unknown> = named(event, body);
    for (const { patch } of forms) seen = { ...seen, ...patch };
    // The body of an event must not change its type, because another service may own that type.
    return { ...seen, type: event.type };
  });
}

/** Clients that compute avatar URLs from emails get none if they can see the email. */
function withoutPicture({ body, variants = [] }: NewPerson, userId: number): Partial<NewPerson['body']> {
  const shown = variants.findLast(({ audience, patch }) => patch.person && reaches(audience, userId));
  const person = shown?.patch.person ?? body.person;
  return person.delivery_email && !isUploadedAvatar(person.avatar_url)
    ? { person: { ...person, avatar_url: null } }
    : {};
}

function sharedMessage(texts: EventTexts, queue: QueueRecord, entry: LogEntry, event: Message): string | undefined {
  const { message } = event.body;
  const isEmptyTopic = message.type === 'stream' && message.subject === '' && !queue.capabilities.empty_topic_name;
  const hidden = event.message?.emailHiddenFrom;
  const unknown = event.message?.unknownSender;
  const isUnknown = unknown !== undefined && hasId(unknown.to, queue.user_id);
  // Clients that compute avatar URLs from emails get none if they may see the email.
  const isPictureless =
    !isUnknown &&
    queue.client_gravatar &&
    !isUploadedAvatar(message.avatar_url) &&
    !(hidden && hasId(hidden, queue.user_id));
  const profile = `m${Number(queue.apply_markdown)}${Number(isPictureless)}${Number(isEmptyTopic)}${Number(isUnknown)}`;
  return texts.once(event, profile, () =>
    named(event, {
      message: {
        ...message,
        id: entry.number,
        // The database clock at the time of the commit, unless a mirroring bot stated another time.
        timestamp: message.timestamp ?? Math.floor(entry.at / 1000),
        ...submessagesOf(message, entry.number),
        ...(queue.apply_markdown ? {} : { content: event.message?.source, content_type: 'text/x-markdown' }),
        ...(isPictureless ? { avatar_url: null } : {}),
        ...(isEmptyTopic ? { subject: emptyTopicDisplayName } : {}),
        ...(isUnknown ? senderOf(unknown.shown) : {}),
      },
    }),
  );
}

const senderOf = ({ email, full_name, avatar_url }: UnknownUser): Record<string, string> => ({
  sender_email: email,
  sender_full_name: full_name,
  avatar_url,
});

/** Submessages that were sent with the message do not contain its id yet. */
const submessagesOf = ({ submessages }: LoggedMessage, message_id: number): object =>
  submessages.length > 0 ? { submessages: submessages.map((one) => ({ ...one, message_id })) } : {};

/** Flags depend on the receiver; the local id is sent only to the queue that the message came from. */
function ownPart(queue: QueueRecord, event: Message): string {
  const local = event.message?.local;
  const flags = `,"flags":${JSON.stringify(flagsOf(event, queue.user_id))}`;
  return local?.queueId === queue.queue_id ? `${flags},"local_message_id":${JSON.stringify(local.localId)}` : flags;
}

const named = (event: LogEvent, body: Record<string, unknown>): Record<string, unknown> => ({
  type: event.type,
  ...(event.op === undefined ? {} : { op: event.op }),
  ...body,
});

const bits = (all: readonly unknown[] | undefined, chosen: readonly unknown[]): string[] =>
  (all ?? []).map((one) => (chosen.includes(one) ? '1' : '0'));

const isFormFor = ({ capability, is }: Form, queue: QueueRecord): boolean =>
  (queue.capabilities[capability] ?? false) === is;

const isPartFor = ({ audience, capability, is }: ListPart, queue: QueueRecord): boolean =>
  reaches(audience, queue.user_id) &&
  (capability === undefined || (queue.capabilities[capability] ?? false) === (is ?? true));

function withItems(body: Record<string, unknown>, { list, items }: ListPart): Record<string, unknown> {
  const shared = body[list];
  if (!Array.isArray(shared)) return body;
  return { ...body, [list]: shared.map((item: object, index) => ({ ...item, ...items[index] })) };
}

function reaches(audience: Audience, userId: number): boolean {
  if (audience === 'realm') return true;
  return hasId(audience.users, userId) && !(audience.except && hasId(audience.except, userId));
}

const flagsOf = (event: Message, userId: number): string[] =>
  (event.message?.flags ?? []).filter(({ users }) => hasId(users, userId)).map(({ flag }) => flag);
