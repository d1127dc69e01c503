export interface ClientOptions {
  /** Address of the server, without `/api/v1`. */
  url: string;
  /** Absent for operations that need no authentication. */
  email?: string;
  apiKey?: string;
  /** Sent as User-Agent; what comes before a slash is the client's name on messages. */
  userAgent?: string;
  /** How long a request that may be repeated is repeated; a minute unless said otherwise. */
  retryForMs?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Given again, the same request has its effect once, also from another process. */
  idempotencyKey?: string;
}

export declare function createClient(options: ClientOptions): Client;

/** The server understood and refused. */
export declare class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Further fields of the answer. */
  readonly extra: Record<string, unknown>;
  constructor(status: number, answer: Record<string, unknown>);
}

export interface FeedOptions {
  signal?: AbortSignal;
  /** The queue had ended (the client was away for too long): a new one begins with this state. */
  onReset?: (state: State) => void;
}

type State = Awaited<ReturnType<Client['register']>>;
type Event = Awaited<ReturnType<Client['getEvents']>>['events'][number];

/** State at one moment, then every event after it, once and in order. Heartbeats are left out. */
export interface Feed extends AsyncIterable<Event> {
  readonly state: State;
}

/** Registers a queue and follows it until `signal` aborts or the caller leaves the loop, which deletes the queue. */
export declare function follow(
  client: Client,
  params?: Parameters<Client['register']>[0],
  options?: FeedOptions,
): Promise<Feed>;
