import { randomUUID } from 'node:crypto';
import { request } from './api.ts';

/**
 * Sends a request again while the system has no time for it: hashing many passwords at once on a busy machine may take
 * longer than the deadline of a request. Only for requests that may be done twice.
 */
export async function untilServed<R extends { status: number }>(send: () => Promise<R>): Promise<R> {
  for (const end = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
    const answer = await send();
    if (answer.status !== 503 || Date.now() > end) return answer;
  }
}

/** Like `request`, again until the system has time for it. Its key lets a change take effect once. */
export function requestOnce(
  url: string,
  { headers, ...who }: Parameters<typeof request>[1],
  route: string,
  form: Record<string, unknown> = {},
): ReturnType<typeof request> {
  const once = { ...who, headers: { 'idempotency-key': randomUUID(), ...headers } };
  return untilServed(() => request(url, once, route, form));
}
