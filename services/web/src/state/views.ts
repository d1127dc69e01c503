import type { ChatEvent } from '@natter/client';
import { holds, keyOf, type Message, type Narrow, type Place, placeOf, topicPlace } from './place.ts';

/** A loaded part of a narrow: consecutive messages of it. */
export interface View {
  narrow: Narrow;
  /** In order. */
  ids: readonly number[];
  hasOldest: boolean;
  hasNewest: boolean;
  /** The message to show first; undefined for the end. */
  anchor: number | undefined;
  /** Grows when the view was replaced, so that the list goes to its anchor. */
  version: number;
}

export interface Shown {
  messages: ReadonlyMap<number, Message>;
  views: ReadonlyMap<string, View>;
}

export interface Page {
  narrow: Narrow;
  messages: readonly Message[];
  foundOldest: boolean;
  foundNewest: boolean;
}

/** Replaces a view by a page. */
export function openView(shown: Shown, page: Page, anchor: number | undefined): Shown {
  const key = keyOf(page.narrow);
  const view: View = {
    narrow: page.narrow,
    ids: page.messages.map(({ id }) => id),
    hasOldest: page.foundOldest,
    hasNewest: page.foundNewest,
    anchor,
    version: (shown.views.get(key)?.version ?? 0) + 1,
  };
  return { messages: withMessages(shown, page.messages), views: new Map(shown.views).set(key, view) };
}

/** Adds a page at one end of its view. Messages that arrived in the meantime are kept. */
export function extendView(shown: Shown, page: Page): Shown {
  const key = keyOf(page.narrow);
  const view = shown.views.get(key);
  if (!view) return shown;
  const ids = [...new Set([...view.ids, ...page.messages.map(({ id }) => id)])].sort((a, b) => a - b);
  const next = {
    ...view,
    ids,
    hasOldest: view.hasOldest || page.foundOldest,
    hasNewest: view.hasNewest || page.foundNewest,
  };
  return { messages: withMessages(shown, page.messages), views: new Map(shown.views).set(key, next) };
}

const withMessages = ({ messages }: Shown, added: readonly Message[]): ReadonlyMap<number, Message> =>
  new Map([...messages, ...added.map((one) => [one.id, one] as const)]);

export interface Reader {
  ownId: number;
  isMuted: (place: Place) => boolean;
}

export function applyToViews(shown: Shown, event: ChatEvent, reader: Reader): Shown {
  switch (event.type) {
    case 'message':
      return arrived(shown, { ...event.message, flags: event.flags } as Message, reader);
    case 'update_message':
      return updated(shown, event, reader);
    case 'delete_message':
      return without(shown, 'message_ids' in event ? event.message_ids : [event.message_id]);
    case 'update_message_flags':
      return change(shown, event.messages, (message) => ({
        ...message,
        flags: [...message.flags.filter((flag) => flag !== event.flag), ...(event.op === 'add' ? [event.flag] : [])],
      }));
    default:
      return shown;
  }
}

function arrived(shown: Shown, message: Message, reader: Reader): Shown {
  const place = placeOf(message, reader.ownId);
  const isMuted = reader.isMuted(place);
  const views = new Map(shown.views);
  for (const [key, view] of shown.views)
    if (view.hasNewest && !view.ids.includes(message.id) && holds(view.narrow, place, isMuted))
      views.set(key, { ...view, ids: [...view.ids, message.id].sort((a, b) => a - b) });
  return { messages: withMessages(shown, [message]), views };
}

function updated(shown: Shown, event: Extract<ChatEvent, { type: 'update_message' }>, reader: Reader): Shown {
  const { rendered_content, subject, new_stream_id, stream_name } = event;
  let next = shown;
  if (rendered_content !== undefined)
    next = change(next, [event.message_id], (message) => ({ ...message, content: rendered_content }) as Message);
  if (subject === undefined && new_stream_id === undefined) return next;
  next = change(next, event.message_ids, (message) =>
    message.type === 'stream'
      ? {
          ...message,
          subject: subject ?? message.subject,
          stream_id: new_stream_id ?? message.stream_id,
          display_recipient: new_stream_id === undefined ? (stream_name ?? message.display_recipient) : '',
        }
      : message,
  );
  const target =
    event.stream_id === undefined ? undefined : topicPlace(new_stream_id ?? event.stream_id, subject ?? '');
  return remembered(next, event.message_ids, reader, target);
}

/** Puts moved messages where they are now. A view is dropped, to be loaded again, if messages that it lacks move there. */
function remembered(shown: Shown, moved: readonly number[], reader: Reader, target: Place | undefined): Shown {
  const views = new Map(shown.views);
  for (const [key, view] of shown.views) {
    const [first = 0] = view.ids;
    const ids = new Set(view.ids);
    let isComplete = true;
    const mayLack = target !== undefined && holds(view.narrow, target, reader.isMuted(target));
    for (const id of moved) {
      const message = shown.messages.get(id);
      const place = message && placeOf(message, reader.ownId);
      if (place === undefined) isComplete &&= !mayLack;
      else if (!holds(view.narrow, place, reader.isMuted(place))) ids.delete(id);
      else if (id >= first || view.hasOldest) ids.add(id);
    }
    const sorted = [...ids].sort((a, b) => a - b);
    if (isComplete) views.set(key, { ...view, ids: sorted });
    else views.delete(key);
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
  const messages = new Map(shown.messages);
  for (const id of ids) {
    const message = messages.get(id);
    if (message) messages.set(id, by(message));
  }
  return { ...shown, messages };
}
