import type { CallOptions, Client } from '@natter/client';
import { type Message, type Narrow, termsOf } from '../state/place.ts';

/** No message is newer. */
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
  const messages = answer.messages as unknown as Message[];
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
    messages: answer.messages as unknown as Message[],
    foundOldest: towards === 'oldest' && answer.found_oldest,
    foundNewest: towards === 'newest' && answer.found_newest,
  };
}
