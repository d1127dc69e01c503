/**
 * For so long after its first attempt a request that writes is repeated. The server keeps an Idempotency-Key for a day;
 * the same request after that may have its effect again.
 */
export const repeatableMs = 20 * 3_600_000;

/** The request was sent, got no final answer, and is too old to be repeated. `cause` is the last failure. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('No answer for 20 hours: the request may have been done', { cause });
    this.name = 'OutcomeUnknown';
  }
}
