import type { ChatEvent } from '@natter/client';
import { reactionsAfter, withFlag, withSubmessage, withText } from './message-changes.ts';
import { holds, keyOf, type Message, type Narrow, type Place, placeOf, topicPlace } from './place.ts';
import { afterSubscribing } from './view-gaps.ts';

/** A loaded part of a narrow: consecutive messages of it. */
export interface View {
  narrow: Narrow;
  /** Ids of the messages in ascending order. */
  ids: readonly number[];
  hasOldest: boolean;
  hasNewest: boolean;
  /** Whether it may lack messages that belong between its own: it is loaded again once it is on screen. */
  isStale: boolean;
  /** The message to show first; undefined for the end. */
  anchor: number | undefined;
  /** Whether it was opened at a message that a link named, instead of at the place of the reader. */
  isNear: boolean;
  /** Grows when the view was replaced, so that the list goes to its anchor. */
  version: number;
  /** The contents of messages with the words of a search marked. */
  matches: ReadonlyMap<number, string>;
  /** The number of results that a search found after the page was opened. */
  news: number;
}

export interface Shown {
  messages: ReadonlyMap<number, Message>;
  views: ReadonlyMap<string, View>;
}

export interface Page {
  narrow: Narrow;
  messages: readonly (Message & { match_content?: string | undefined })[];
  foundOldest: boolean;
  foundNewest: boolean;
  /** The message at which a replaced view opens, and whether a link named it. */
  anchor?: number | undefined;
  isNear?: boolean;
  /** Events since the request: the page may be older than they are. */
  since: readonly ChatEvent[];
}

/** Whether a view may lack the place of the reader: the first unread message, or the end. */
export const lacksPlace = ({ messages }: Shown, { ids, isNear, hasNewest }: View): boolean =>
  !hasNewest && (isNear || ids.every((id) => messages.get(id)?.flags.includes('read')));

/** Replaces a view by a page. */
export function openView(shown: Shown, page: Page, reader: Reader): Shown {
  const key = keyOf(page.narrow);
  const view: View = {
    narrow: page.narrow,
    ids: page.messages.map(({ id }) => id),
    hasOldest: page.foundOldest,
    hasNewest: page.foundNewest,
    isStale: false,
    anchor: page.anchor,
    isNear: page.isNear ?? false,
    version: (shown.views.get(key)?.version ?? 0) + 1,
    matches: matchesOf(page),
    news: 0,
  };
  return withPage(shown, page, view, reader);
}

/** Adds a page at one end of its view. Messages that arrived in the meantime are kept. */
export function extendView(shown: Shown, page: Page, reader: Reader): Shown {
  const view = shown.views.get(keyOf(page.narrow));
  if (!view) return shown;
  const next = {
    ...view,
    ids: [...new Set([...view.ids, ...page.messages.map(({ id }) => id)])].sort((a, b) => a - b),
    hasOldest: view.hasOldest || page.foundOldest,
    hasNewest: view.hasNewest || page.foundNewest,
    matches: new Map([...view.matches, ...matchesOf(page)]),
  };
  return withPage(shown, page, next, reader);
}

const matchesOf = ({ messages }: Page): ReadonlyMap<number, string> =>
  new Map(messages.flatMap(({ id, match_content }) => (match_content === undefined ? [] : [[id, match_content]])));

function withPage(shown: Shown, page: Page, view: View, reader: Reader): Shown {
  const views = new Map(shown.views);
  // The views that were opened last are last.
  views.delete(keyOf(page.narrow));
  views.set(keyOf(page.narrow), view);
  const next = { messages: withMessages(shown, page.messages), views };
  return page.since.reduce<Shown>((before, event) => applyToViews(before, event, reader), next);
}

/** Adds messages that arrived to the results of a search. */
export function withFound(shown: Shown, key: string, matches: ReadonlyMap<number, string>): Shown {
  const view = shown.views.get(key);
  if (!view?.hasNewest) return shown;
  const added = [...matches].filter(([id]) => shown.messages.has(id) && !view.ids.includes(id));
  if (added.length === 0) return shown;
  const next = {
    ...view,
    ids: [...view.ids, ...added.map(([id]) => id)].sort((a, b) => a - b),
    matches: new Map([...view.matches, ...added]),
    news: view.news + added.length,
  };
  return { ...shown, views: new Map(shown.views).set(key, next) };
}

const withMessages = ({ messages }: Shown, added: readonly Message[]): ReadonlyMap<number, Message> =>
  new Map([...messages, ...added.map((one) => [one.id, one] as const)]);

export interface Reader {
  ownId: number;
  isMuted: (place: Place) => boolean;
  /** Whether a conversation was muted before the event. */
  wasMuted: (place: Place) => boolean;
}

/** Applies an event to the views; a second application changes nothing. */
export function applyToViews(shown: Shown, event: ChatEvent, reader: Reader): Shown {
  switch (event.type) {
    case 'message':
      return arrived(shown, { ...event.message, flags: event.flags }, reader);
    case 'update_message':
      return updated(shown, event, reader);
    case 'delete_message':
      return without(shown, 'message_ids' in event ? event.message_ids : [event.message_id]);
    case 'update_message_flags':
      return flagged(shown, event, reader);
    case 'reaction':
      return change(shown, [event.message_id], (message) => ({
        ...message,
        reactions: reactionsAfter(message, event),
      }));
    case 'submessage':
      return change(shown, [event.message_id], (message) => withSubmessage(message, event));
    case 'user_topic':
      return withMuting(shown, event, reader);
    case 'subscription':
      return withMuting({ ...shown, views: afterSubscribing(shown.views, event) }, event, reader);
    default:
      return shown;
  }
}

function arrived(shown: Shown, message: Message, reader: Reader): Shown {
  const traits = traitsOf(message, reader);
  const views = new Map(shown.views);
  for (const [key, view] of shown.views)
    if (view.hasNewest && holds(view.narrow, traits) && !view.ids.includes(message.id))
      views.set(key, { ...view, ids: [...view.ids, message.id].sort((a, b) => a - b) });
  return { messages: shown.messages.has(message.id) ? shown.messages : withMessages(shown, [message]), views };
}

function traitsOf(message: Message, reader: Reader) {
  const place = placeOf(message, reader.ownId);
  return { place, isMuted: reader.isMuted(place), flags: message.flags };
}

type MutingEvent = Extract<ChatEvent, { type: 'user_topic' | 'subscription' }>;

/** Muted places leave the feed. It lacks the messages of places that are no longer muted. */
function withMuting(shown: Shown, event: MutingEvent, reader: Reader): Shown {
  const key = keyOf({ kind: 'feed' });
  const feed = shown.views.get(key);
  if (!feed) return shown;
  const ids = feed.ids.filter((id) => {
    const message = shown.messages.get(id);
    return !message || holds(feed.narrow, traitsOf(message, reader));
  });
  const isStale = feed.isStale || mayEnterFeed(event, reader);
  if (isStale === feed.isStale && ids.length === feed.ids.length) return shown;
  return { ...shown, views: new Map(shown.views).set(key, { ...feed, ids, isStale }) };
}

function mayEnterFeed(event: MutingEvent, { isMuted, wasMuted }: Reader): boolean {
  if (event.type === 'user_topic') {
    const place = topicPlace(event.stream_id, event.topic_name);
    return wasMuted(place) && !isMuted(place);
  }
  if (event.op === 'update') return event.property === 'is_muted' && event.value === false;
  return event.op === 'add' || event.op === 'remove';
}

/** The messages after the reader has read some; known before the event arrives. */
export const markedAsRead = (shown: Shown, ids: readonly number[]): Shown =>
  change(shown, ids, (message) => withFlag(message, 'read', true));

function flagged(shown: Shown, event: Extract<ChatEvent, { type: 'update_message_flags' }>, reader: Reader): Shown {
  const next = change(shown, event.messages, (message) => withFlag(message, event.flag, event.op === 'add'));
  if (event.flag !== 'starred') return next;
  return arranged(next, event.messages, reader, ({ kind }) => kind === 'starred' && event.op === 'add');
}

type UpdateEvent = Extract<ChatEvent, { type: 'update_message' }>;

function updated(shown: Shown, event: UpdateEvent, reader: Reader): Shown {
  const { rendered_content, subject, new_stream_id, stream_name, edit_timestamp } = event;
  const moved = isResolved(event) ? {} : { last_moved_timestamp: edit_timestamp };
  let next = shown;
  if (rendered_content !== undefined) {
    const { flags } = event;
    next = change(next, [event.message_id], (message) => withText(message, event, rendered_content));
    next = withoutMatches(next, event.message_id);
    const isNew = holds({ kind: 'mentions' }, { place: topicPlace(0, ''), isMuted: false, flags });
    next = arranged(next, [event.message_id], reader, ({ kind }) => kind === 'mentions' && isNew);
  }
  if (subject === undefined && new_stream_id === undefined) return next;
  next = change(next, event.message_ids, (message) =>
    message.type === 'stream'
      ? {
          ...message,
          ...moved,
          subject: subject ?? message.subject,
          stream_id: new_stream_id ?? message.stream_id,
          display_recipient: new_stream_id === undefined ? (stream_name ?? message.display_recipient) : '',
        }
      : message,
  );
  const topic = subject ?? event.orig_subject ?? '';
  const target = event.stream_id === undefined ? undefined : topicPlace(new_stream_id ?? event.stream_id, topic);
  const mayLack = (narrow: Narrow): boolean =>
    target !== undefined && holds(narrow, { place: target, isMuted: reader.isMuted(target), flags: [] });
  return arranged(next, event.message_ids, reader, mayLack);
}

/** Whether an event moves messages out of a conversation. */
export const isMoveFrom = (event: ChatEvent, key: string): event is UpdateEvent =>
  event.type === 'update_message' &&
  event.stream_id !== undefined &&
  event.orig_subject !== undefined &&
  keyOf(topicPlace(event.stream_id, event.orig_subject)) === key;

/** Whether a topic was only marked as resolved, or no longer is: this does not count as a move. */
const isResolved = ({ orig_subject, subject, new_stream_id }: UpdateEvent): boolean =>
  new_stream_id === undefined && subject?.replace(/^✔ /, '') === orig_subject?.replace(/^✔ /, '');

/** The words that a search found may be gone from an edited message. */
function withoutMatches(shown: Shown, id: number): Shown {
  const views = [...shown.views].map(([key, view]) => {
    if (!view.matches.has(id)) return [key, view] as const;
    return [key, { ...view, matches: new Map([...view.matches].filter(([matched]) => matched !== id)) }] as const;
  });
  return { ...shown, views: new Map(views) };
}

/** Moves changed messages to the views to which they belong now. A view is stale if it may lack some of them. */
function arranged(
  shown: Shown,
  changed: readonly number[],
  reader: Reader,
  mayLack: (narrow: Narrow) => boolean,
): Shown {
  const views = new Map(shown.views);
  for (const [key, view] of shown.views) {
    if (view.narrow.kind === 'search') continue;
    const [first = 0, last = 0] = [view.ids[0], view.ids.at(-1)];
    const ids = new Set(view.ids);
    let { isStale } = view;
    for (const id of changed) {
      const message = shown.messages.get(id);
      if (message && !holds(view.narrow, traitsOf(message, reader))) ids.delete(id);
      else if ((id >= first || view.hasOldest) && (id <= last || view.hasNewest)) {
        if (message) ids.add(id);
        else isStale ||= mayLack(view.narrow);
      }
    }
    views.set(key, { ...view, ids: [...ids].sort((a, b) => a - b), isStale });
  }
  return { ...shown, views };
}

function without(shown: Shown, ids: readonly number[]): Shown {
  const gone = new Set(ids);
  const messages = new Map([...shown.messages].filter(([id]) => !gone.has(id)));
  const views = new Map(
    [...shown.views].map(([key, view]) => [key, { ...view, ids: view.ids.filter((id) => !gone.has(id)) }]),
  );
  return { messages, views };
}

function change(shown: Shown, ids: readonly number[], by: (message: Message) => Message): Shown {
  if (!ids.some((id) => shown.messages.has(id))) return shown;
  const messages = new Map(shown.messages);
  for (const id of ids) {
    const message = messages.get(id);
    if (message) messages.set(id, by(message));
  }
  return { ...shown, messages };
}
