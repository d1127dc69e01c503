import type { CallOptions, Client } from '@natter/client';
import { covers } from '../state/bounds.ts';
import { type Narrow, termsOf } from '../state/place.ts';

/** An anchor above the ids of all messages. */
export const newestId = 10_000_000_000_000_000;
const pageSize = 60;
/** Number of messages in which recent conversations are found. */
const recentSize = 400;

const paramsOf = (narrow: Narrow) => ({
  narrow: termsOf(narrow),
  client_gravatar: true,
  allow_empty_topic_name: true,
});

/** The messages around one, or around the place where a list opens: the first unread message, or the end. */
export async function pageAround(client: Client, narrow: Narrow, around: number | undefined, options: CallOptions) {
  const isByTime = narrow.kind === 'all' || narrow.kind === 'starred' || narrow.kind === 'search';
  const params = {
    ...paramsOf(narrow),
    anchor: around ?? (isByTime ? ('newest' as const) : ('first_unread' as const)),
    num_before: narrow.kind === 'all' ? recentSize : pageSize,
    num_after: pageSize,
  };
  const answer = await client.getMessages(params, options);
  const messages = answer.messages;
  const firstUnread = messages.find(({ id, flags }) => id >= answer.anchor && !flags.includes('read'))?.id;
  return {
    narrow,
    messages,
    foundOldest: answer.found_oldest,
    foundNewest: answer.found_newest,
    anchor: around ?? (isByTime ? undefined : firstUnread),
    isNear: around !== undefined,
  };
}

/** The list on the page. */
export interface ShownList {
  narrow: Narrow;
  /** The message at its top; undefined at its end, and `newestId` until it has arrived there on request. */
  topId: number | undefined;
  /** The pixels of this message above the edge; undefined before the list has arrived at its place. */
  above?: number;
  /** Whether the reader has moved the list since they opened it or asked for its end. */
  isMoved?: boolean;
}

/** The place where a list stays that the reader has moved; undefined if it goes to the place of a page. */
export const movedTo = (shown: ShownList | undefined, around: number | undefined): number | undefined =>
  shown?.isMoved ? (shown.topId ?? (around && newestId)) : undefined;

export const pageCovers = (
  { messages, foundOldest, foundNewest }: Awaited<ReturnType<typeof pageAround>>,
  id: number,
) => covers({ ids: messages.map((one) => one.id), hasOldest: foundOldest, hasNewest: foundNewest }, id);

interface Beside {
  /** The oldest or the newest message that a list has. */
  anchor: number;
  towards: 'oldest' | 'newest';
  signal: AbortSignal;
}

/** The messages before or after one. A list does not show that this failed: they are requested until the signal aborts. */
export async function pageBeside(client: Client, narrow: Narrow, { anchor, towards, signal }: Beside) {
  const params = {
    ...paramsOf(narrow),
    anchor,
    include_anchor: false,
    num_before: towards === 'oldest' ? (narrow.kind === 'all' ? recentSize : pageSize) : 0,
    num_after: towards === 'newest' ? pageSize : 0,
  };
  const answer = await client.getMessages(params, { retryForMs: Number.POSITIVE_INFINITY, signal });
  return {
    narrow,
    messages: answer.messages,
    foundOldest: towards === 'oldest' && answer.found_oldest,
    foundNewest: towards === 'newest' && answer.found_newest,
  };
}
