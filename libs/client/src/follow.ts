import { ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './client-options.ts';
import type { ChatEvent } from './events.ts';
import { OutcomeUnknown } from './outcome-unknown.ts';

type RegisterParams = NonNullable<Parameters<Client['register']>[0]>;
export type State = Awaited<ReturnType<Client['register']>>;

/** A position in a queue, from which another process can continue. */
export interface Position {
  queue_id: string;
  last_event_id: number;
}

/**
 * The queue ended because the client was away for too long. A new queue begins with `state`; events in between are
 * lost.
 */
export interface Gap {
  type: 'gap';
  state: State;
}

export interface FeedOptions {
  /** Ends the loop; if it is aborted while an event is handled, after that event. */
  signal?: AbortSignal;
  /** Follow the queue of an earlier process from this position, instead of registering a queue. */
  resumeFrom?: Position;
  /**
   * Called after each event was handled, that is, when the loop requests the next one. Store the position to resume
   * from it. An event at which the loop is left does not count as handled.
   */
  onPosition?: (position: Position) => void;
  /** Keep the queue when the loop ends, so that another process can resume. By default it is deleted. */
  keepQueue?: boolean;
}

/**
 * Every event after a state, once and in order, without heartbeats. It ends when the caller leaves the loop or `signal` aborts, and
 * rejects with an `ApiError` when the server or a proxy refuses the client, for example because its key was revoked.
 */
export interface Feed extends AsyncIterable<ChatEvent | Gap> {
  /** Absent if the feed resumed. */
  readonly state: State | undefined;
  /** The last handled event. */
  readonly position: Position;
}

/**
 * Registers a queue, or resumes one, and follows it through outages of any length. Rejects if the first register is not answered
 * within `retryForMs`.
 */
export function follow(
  client: Client,
  params?: RegisterParams,
  options?: FeedOptions & { resumeFrom?: undefined },
): Promise<Feed & { readonly state: State }>;
export function follow(client: Client, params: RegisterParams, options: FeedOptions): Promise<Feed>;
export async function follow(client: Client, params: RegisterParams = {}, options: FeedOptions = {}): Promise<Feed> {
  const state = options.resumeFrom ? undefined : await client.register(params, callOf(options));
  const feed = {
    state,
    position: options.resumeFrom ?? startOf(state as State),
    async *[Symbol.asyncIterator]() {
      try {
        yield* eventsOf(client, params, options, feed);
      } finally {
        const { queue_id } = feed.position;
        if (!options.keepQueue) await client.deleteQueue({ queue_id }, { retryForMs: 2_000 }).catch(() => undefined);
      }
    },
  };
  return feed;
}

async function* eventsOf(
  client: Client,
  params: RegisterParams,
  options: FeedOptions,
  feed: { position: Position },
): AsyncGenerator<ChatEvent | Gap, void, undefined> {
  const forEver = { ...callOf(options), retryForMs: Number.POSITIVE_INFINITY };
  const moveTo = (position: Position): void => {
    feed.position = position;
    options.onPosition?.(position);
  };
  while (!options.signal?.aborted) {
    const { queue_id } = feed.position;
    let events: ChatEvent[];
    try {
      events = (await client.getEvents(feed.position, forEver)).events as ChatEvent[];
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof ApiError) || error.code !== 'BAD_EVENT_QUEUE_ID') throw error;
      const state = await client.register(params, forEver).catch((failure: unknown) => {
        // Another queue does no harm, so the register is repeated under another key.
        if (!options.signal?.aborted && !(failure instanceof OutcomeUnknown)) throw failure;
      });
      if (!state) continue;
      feed.position = startOf(state);
      yield { type: 'gap', state };
      moveTo(feed.position);
      continue;
    }
    for (const event of events) {
      // The server repeats events whose delivery was not acknowledged.
      if (event.id <= feed.position.last_event_id) continue;
      if (event.type !== 'heartbeat') yield event;
      moveTo({ queue_id, last_event_id: event.id });
      if (options.signal?.aborted) return;
    }
  }
}

function startOf({ queue_id, last_event_id }: State): Position {
  if (queue_id === null) throw new Error('The server registered no queue: follow needs an account');
  return { queue_id, last_event_id };
}

const callOf = ({ signal }: FeedOptions): CallOptions => (signal ? { signal } : {});
