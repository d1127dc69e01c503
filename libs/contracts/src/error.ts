/** The closed list of codes and the HTTP status of each (specification, section 7). */
export const errorStatus = {
  BAD_REQUEST: 400,
  REQUEST_VARIABLE_MISSING: 400,
  REQUEST_VARIABLE_INVALID: 400,
  REQUEST_CONFUSING_VAR: 400,
  BAD_EVENT_QUEUE_ID: 400,
  BAD_NARROW: 400,
  STREAM_DOES_NOT_EXIST: 400,
  CHANNEL_ALREADY_EXISTS: 400,
  EXPECTATION_MISMATCH: 400,
  IDEMPOTENCY_KEY_REUSED: 422,
  UNAUTHORIZED: 401,
  INVALID_API_KEY: 401,
  USER_DEACTIVATED: 401,
  REALM_DEACTIVATED: 401,
  AUTHENTICATION_FAILED: 401,
  NONEXISTENT_SUBDOMAIN: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TOO_LARGE: 413,
  RATE_LIMIT_HIT: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** A failure the caller is told of: a stable code, public text and extra fields. The cause stays inside and is only logged. */
export class ChatError extends Error {
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, extra: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ChatError';
    this.code = code;
    this.extra = extra;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

export const badRequest = (message: string): ChatError => new ChatError('BAD_REQUEST', message);
export const unavailable = (cause?: unknown): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is not ready for this request. Try again.', {}, cause);
