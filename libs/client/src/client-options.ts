export interface ClientOptions {
  /** Address of the server, without `/api/v1`. */
  url: string;
  /** Absent for operations that need no authentication. */
  email?: string;
  apiKey?: string;
  /** Sent as User-Agent; the text before a slash is the client's name on messages. */
  userAgent?: string;
  /** How long a repeatable request is repeated, in milliseconds. */
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
