import { ApiError } from './api-error.ts';
import type { CallOptions, ClientOptions } from './client-options.ts';
import { type Encoded, withoutLongQuery } from './encode.ts';
import { OutcomeUnknown, repeatableMs } from './outcome-unknown.ts';
import { startPatience } from './patience.ts';

interface Sending extends CallOptions {
  isReadOnly: boolean;
  deadlineMs: number;
}
interface Attempt extends Sending {
  /**
   * Whether an earlier attempt may have been executed. Then an error of a proxy is not final: the request is repeated
   * until the server, which stores the idempotency key, answers.
   */
  isUncertain: boolean;
}

/** Deadline of a poll: longer than the server holds a poll without events. */
const pollMs = 90_000;

/**
 * Sends until there is a final answer. Throws `ApiError` for a refusal, the last failure when the time is over, or
 * `OutcomeUnknown` when the server may have forgotten the key.
 */
export async function send(client: ClientOptions, encoded: Encoded, sending: Sending): Promise<unknown> {
  const isAuthenticated = client.session !== undefined || client.email !== undefined;
  const request = isAuthenticated ? withoutLongQuery(encoded) : encoded;
  const headers: Record<string, string> = client.session ? {} : { 'user-agent': client.userAgent ?? 'NatterClient' };
  if (client.email !== undefined) headers.authorization = `Basic ${basic(`${client.email}:${client.apiKey ?? ''}`)}`;
  if (typeof request.body === 'string') headers['content-type'] = 'application/x-www-form-urlencoded';
  if (!sending.isReadOnly) headers['idempotency-key'] = sending.idempotencyKey ?? randomKey();
  // Measured by the monotonic clock, because the clock of the system may be set.
  const begun = performance.now();
  const end = begun + (sending.retryForMs ?? client.retryForMs ?? 60_000);
  const { firstSentAt = Date.now() } = sending;
  // By either clock: the monotonic one may stand still while the machine sleeps, and the other one may be set back.
  const keyAgeMs = (): number => Math.max(Date.now() - firstSentAt, performance.now() - begun);
  let failure: unknown;
  for (let attempt = 0; ; attempt++) {
    sending.signal?.throwIfAborted();
    if (!sending.isReadOnly && keyAgeMs() >= repeatableMs) throw new OutcomeUnknown(failure);
    // The token changes with each login, also with one in another tab.
    if (client.session) headers['x-csrftoken'] = client.session.csrfToken();
    const isUncertain = !sending.isReadOnly && failure !== undefined;
    const outcome = await once(client, request, headers, { ...sending, isUncertain });
    if (!sending.signal?.aborted) client.onAttempt?.('failure' in outcome ? outcome.failure : undefined);
    if ('answer' in outcome) return outcome.answer;
    failure = outcome.failure;
    sending.signal?.throwIfAborted();
    const waitMs = outcome.retryAfterMs ?? Math.random() * Math.min(100 * 2 ** attempt, 5_000);
    if (performance.now() + waitMs > end) throw failure;
    await pause(waitMs, sending.signal);
  }
}

const pathFor = ({ session }: ClientOptions, path: string): string =>
  session ? path.replace(/^\/api\/v1\//, '/json/') : path;

type Outcome = { answer: unknown } | { failure: unknown; retryAfterMs?: number | undefined };

async function once(
  client: ClientOptions,
  { method, path, body }: Encoded,
  headers: Record<string, string>,
  { signal, deadlineMs, isUncertain }: Attempt,
): Promise<Outcome> {
  const patience = startPatience(Math.max(deadlineMs * 2, pollMs), body);
  let response: Response;
  let text: string;
  try {
    response = await (client.fetch ?? fetch)(client.url.replace(/\/$/, '') + pathFor(client, path), {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, patience.signal]) : patience.signal,
    });
    text = await textOf(response, patience.progressed);
  } catch (failure) {
    return { failure };
  } finally {
    patience.end();
  }
  const answer = objectIn(text);
  if (response.ok) return answer ? { answer } : { failure: new Error('The answer is not JSON') };
  const { status } = response;
  const failure = new ApiError(status, answer ?? {});
  // With 404 or 408 a proxy did not pass the request on: it has no route to the server, as during an upgrade, or waited too long.
  const isOfProxy = failure.code === '';
  const isPassing = status === 404 || status === 408 || isUncertain;
  const isRepeatable = status === 429 || status >= 500 || (isOfProxy && isPassing);
  if (!isRepeatable) throw failure;
  const seconds = Number(response.headers.get('retry-after'));
  return { failure, retryAfterMs: seconds > 0 ? seconds * 1_000 + Math.random() * 250 : undefined };
}

/** Undefined for anything else than an object in JSON, such as the page of a proxy. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function textOf(response: Response, progressed: () => void): Promise<string> {
  progressed();
  // Some implementations of `fetch` have bodies of another kind.
  if (typeof response.body?.getReader !== 'function') return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    progressed();
    text += decoder.decode(value, { stream: true });
  }
}

/** Ends early when the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** `randomUUID` is missing in pages that came by HTTP from another machine. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const basic = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
