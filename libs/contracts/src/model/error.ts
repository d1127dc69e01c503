import { cut } from './text.ts';

/** The closed list of error codes, and the HTTP status of each. */
export const errorStatus = {
  BAD_REQUEST: 400,
  REQUEST_VARIABLE_MISSING: 400,
  REQUEST_VARIABLE_INVALID: 400,
  REQUEST_CONFUSING_VAR: 400,
  BAD_EVENT_QUEUE_ID: 400,
  BAD_NARROW: 400,
  STREAM_DOES_NOT_EXIST: 400,
  EXPECTATION_MISMATCH: 400,
  INCOMPATIBLE_PARAMETERS: 400,
  SYSTEM_GROUP_REQUIRED: 400,
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: 400,
  REACTION_ALREADY_EXISTS: 400,
  REACTION_DOES_NOT_EXIST: 400,
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: 400,
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: 400,
  CANNOT_DEACTIVATE_LAST_USER: 400,
  CANNOT_DEACTIVATE_GROUP_IN_USE: 400,
  INVITATION_FAILED: 400,
  BAD_IMAGE: 400,
  REALM_UPLOAD_QUOTA: 400,
  INVALID_PUSH_DEVICE_TOKEN: 400,
  IDEMPOTENCY_KEY_REUSED: 422,
  UNAUTHORIZED: 401,
  INVALID_API_KEY: 401,
  USER_DEACTIVATED: 401,
  REALM_DEACTIVATED: 401,
  AUTHENTICATION_FAILED: 401,
  CSRF_FAILED: 403,
  NONEXISTENT_SUBDOMAIN: 404,
  NOT_FOUND: 404,
  CHANNEL_ALREADY_EXISTS: 409,
  UPLOAD_OFFSET_MISMATCH: 409,
  LENGTH_REQUIRED: 411,
  UNSUPPORTED_TUS_VERSION: 412,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMIT_HIT: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** Codes that any operation may answer in addition to those it declares. So may all codes of status 5xx. */
const generalErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_REQUEST',
  'REQUEST_VARIABLE_MISSING',
  'REQUEST_VARIABLE_INVALID',
  'REQUEST_CONFUSING_VAR',
  'IDEMPOTENCY_KEY_REUSED',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'USER_DEACTIVATED',
  'REALM_DEACTIVATED',
  'CSRF_FAILED',
  'NONEXISTENT_SUBDOMAIN',
  'NOT_FOUND',
  'REQUEST_TOO_LARGE',
  'RATE_LIMIT_HIT',
]);

/** Whether the contract lets an operation answer with this code. Services log an undeclared code, and tests fail on it. */
export const mayAnswer = (operation: { errors: readonly ErrorCode[] }, code: ErrorCode): boolean =>
  errorStatus[code] >= 500 || generalErrors.has(code) || operation.errors.includes(code);

/** A text that repeats long values of a request is cut: with an `Idempotency-Key` it is stored for a day. */
const maxMessage = 1_000;

/** A failure that is reported to the caller: a stable code, public text and extra fields. The cause is only logged. */
export class ChatError extends Error {
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown>;

  /** The HTTP status: the code's own, unless clients expect another one in this case. */
  readonly status: number;

  constructor(
    code: ErrorCode,
    message: string,
    extra: Record<string, unknown> = {},
    { cause, status = errorStatus[code] }: { cause?: unknown; status?: number } = {},
  ) {
    super(cut(message, maxMessage), cause === undefined ? undefined : { cause });
    this.name = 'ChatError';
    this.code = code;
    this.extra = extra;
    this.status = status;
  }
}

export const badRequest = (message: string): ChatError => new ChatError('BAD_REQUEST', message);
/** For drafts, scheduled messages, snippets and emoji that do not exist: BAD_REQUEST with HTTP 404. */
export const missing = (message: string): ChatError => new ChatError('BAD_REQUEST', message, {}, { status: 404 });
export const missingArgument = (name: string): ChatError =>
  new ChatError('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });
export const notLoggedIn = (): ChatError =>
  new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
export const unavailable = (cause?: unknown): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is not ready for this request. Try again.', {}, { cause });

/**
 * Whether a request was refused for what it is. Outages and unknown errors are no refusals, and must reach the client as such.
 */
export const isRefusal = (error: unknown): error is ChatError =>
  error instanceof ChatError && error.status >= 400 && error.status < 500;

/** Whether a service, NATS or PostgreSQL did not answer: the same request may succeed later. */
export const isOutage = (error: unknown): error is ChatError =>
  error instanceof ChatError && error.code === 'SERVICE_UNAVAILABLE';

const snapshotBehind = { snapshot: 'behind' };
/** A section of a register cannot be read in the snapshot, because a projection lacks events that the log there contains. */
export const behindSnapshot = (): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is not ready for this request. Try again.', snapshotBehind);
export const isBehindSnapshot = (error: unknown): boolean =>
  isOutage(error) && error.extra.snapshot === snapshotBehind.snapshot;

/** Whether the realm is deactivated. Work that nobody waits for can succeed when it is reactivated. */
export const isClosed = (error: unknown): error is ChatError =>
  error instanceof ChatError && error.code === 'REALM_DEACTIVATED';

/** For `catch`: every refusal becomes this one, so that an invisible object is answered like a missing one. */
export const refusedAs =
  (refusal: () => ChatError) =>
  (error: unknown): never => {
    throw isRefusal(error) ? refusal() : error;
  };
