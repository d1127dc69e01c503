/**
 * The typed client of Natter's HTTP API, made from the same contract as the server: a method per operation, an async iterator
 * over events. Every request that changes something carries an `Idempotency-Key`, so a retry never does it twice: requests are
 * sent again after network failures, 429 and 5xx, until `retryForMs` is over. What the server refuses is an `ApiError`.
 */

export { ApiError } from './api-error.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Feed, type FeedOptions, follow } from './follow.ts';
