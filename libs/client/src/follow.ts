import { ApiError } from './api-error.ts';
import type { Client } from './client.ts';

type RegisterParams = NonNullable<Parameters<Client['register']>[0]>;
type State = Awaited<ReturnType<Client['register']>>;
type Event = Awaited<ReturnType<Client['getEvents']>>['events'][number];

export interface FeedOptions {
  signal?: AbortSignal;
  /** The queue had ended (the client was away for too long): a new one begins with this state. */
  onReset?: (state: State) => void;
}

/** State at one moment, then every event after it, once and in order. Heartbeats are left out. */
export interface Feed extends AsyncIterable<Event> {
  readonly state: State;
}

/** Registers a queue and follows it until `signal` aborts or the caller leaves the loop, which deletes the queue. */
export async function follow(client: Client, params: RegisterParams = {}, options: FeedOptions = {}): Promise<Feed> {
  const first = await client.register(params, signalOf(options));
  return {
    state: first,
    async *[Symbol.asyncIterator]() {
      let state = first;
      let last = state.last_event_id;
      try {
        while (!options.signal?.aborted) {
          const queue_id = String(state.queue_id);
          let events: Event[];
          try {
            ({ events } = await client.getEvents({ queue_id, last_event_id: last }, signalOf(options)));
          } catch (error) {
            if (options.signal?.aborted) return;
            if (!(error instanceof ApiError) || error.code !== 'BAD_EVENT_QUEUE_ID') throw error;
            state = await client.register(params, signalOf(options));
            last = state.last_event_id;
            options.onReset?.(state);
            continue;
          }
          for (const event of events) {
            // An answer that was lost on the way is given again.
            if (event.id <= last) continue;
            last = event.id;
            if (event.type !== 'heartbeat') yield event;
          }
        }
      } finally {
        await client.deleteQueue({ queue_id: String(state.queue_id) }).catch(() => undefined);
      }
    },
  };
}

const signalOf = ({ signal }: FeedOptions): { signal?: AbortSignal } => (signal ? { signal } : {});
