export interface ClientOptions {
  /** Address of the server, without `/api/v1`. */
  url: string;
  /** Absent for operations that need no authentication. */
  email?: string;
  apiKey?: string;
  /** Sent as User-Agent; the text before a slash is the client's name on messages. */
  userAgent?: string;
  /** How long a request is repeated after a network failure or a passing refusal, in milliseconds; by default a minute. */
  retryForMs?: number;
  fetch?: typeof fetch;
  /** For pages of the server itself: requests use the session of the browser, at `/json`, instead of a key. */
  session?: { csrfToken: () => string };
  /** Called after each attempt of a request, with the failure if it will be repeated. */
  onAttempt?: (failure: unknown) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** A repeated request with the same key has its effect once, also from another process. */
  idempotencyKey?: string;
  /** How long this request is repeated, in milliseconds; instead of the client's `retryForMs`. */
  retryForMs?: number;
  /**
   * When `idempotencyKey` was sent first, by `Date.now()`, if that was before this call. A write is repeated until 20
   * hours after that.
   */
  firstSentAt?: number;
}

export declare function createClient(options: ClientOptions): Client;

/** The server refused the request, or a proxy did: then `code` is empty. */
export declare class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Further fields of the response. */
  readonly extra: Record<string, unknown>;
  constructor(status: number, answer: Record<string, unknown>);
}

/** For so long after its first attempt a request that writes is repeated, in milliseconds: 20 hours. */
export declare const repeatableMs: number;

/** The request was sent, got no final answer, and is too old to be repeated. `cause` is the last failure. */
export declare class OutcomeUnknown extends Error {
  constructor(cause: unknown);
}

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
export declare function follow(
  client: Client,
  params?: RegisterParams,
  options?: FeedOptions & { resumeFrom?: undefined },
): Promise<Feed & { readonly state: State }>;
export declare function follow(client: Client, params: RegisterParams, options: FeedOptions): Promise<Feed>;

type Named<K extends string> = K extends `${infer T}/${infer O}` ? { type: T; op: O } : { type: K };

/** An event of a queue: a union discriminated by `type` and, where present, `op`. */
export type ChatEvent = { [K in keyof EventBodies]: { id: number } & Named<K> & EventBodies[K] }[keyof EventBodies];

/** A message of an event. */
export type EventMessage = EventBodies['message']['message'];

/** A message of an answer. */
export type Message = Awaited<ReturnType<Client['getMessages']>>['messages'][number];
