/**
 * The typed client of Natter's HTTP API, built from the server's contract: a method per operation, an async iterator
 * over events. Every write carries an `Idempotency-Key`, so a retry never does it twice: requests are repeated after
 * network failures, 429 and 5xx, until `retryForMs` is over; writes for 20 hours at most, then the failure is an
 * `OutcomeUnknown`. A refusal is an `ApiError`.
 */

export type { MessageObject as Message } from '@natter/contracts';
export { ApiError } from './api-error.ts';
export { type Client, createClient } from './client.ts';
export type { CallOptions, ClientOptions } from './client-options.ts';
export type { ChatEvent, EventBodies, EventMessage } from './events.ts';
export { type Feed, type FeedOptions, follow, type Gap, type Position, type State } from './follow.ts';
export { OutcomeUnknown, repeatableMs } from './outcome-unknown.ts';
