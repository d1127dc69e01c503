import type { Actor, Operation, ParamsOf, RequestMeta, ResultOf } from '@natter/contracts';
import type { Deadline } from '@natter/database';
import type { JsonPieces } from './json-pieces.ts';
import type { Logger } from './logging.ts';
import type { Writing } from './writes.ts';

export interface Context {
  operation: Operation;
  /** Absent without authentication. */
  actor: Actor | undefined;
  meta: RequestMeta;
  /** Each use makes a logger with the fields of the request, so most requests must not read it. */
  log: Logger;
  /** 0 at first; higher when the handler runs again because expected versions changed: caches must be refreshed. */
  attempt: number;
  /** Ends when the caller gives up. Statements and calls of a handler end with it automatically. */
  deadline: Deadline;
  /** The signal of the deadline. */
  signal: AbortSignal;
}

/** A context with an authenticated actor. */
export type UserContext = Context & { actor: Actor };
/** The context of a write with an authenticated actor. */
export type WriteContext = UserContext & Writing;
/** The context of an operation: with an actor if the contract requires one. */
type ContextOf<O> = O extends { caller: 'user' | 'human' } ? UserContext : Context;

// biome-ignore lint/suspicious/noExplicitAny: handlers of different operations share a table; `handle` checks each pair.
type Run = (context: any, params: any) => Promise<unknown>;
export type Handlers = {
  operation: Operation;
  run: Run;
  isWrite?: true;
  /** Requests with the same result are served one after another in this process. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  laneOf?: ((params: any) => string) | undefined;
  /** Computes the answer from the stored result. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  answerOf?: ((stored: any) => unknown) | undefined;
}[];

/**
 * Serializes requests that concern the same object, before they decide on something that only one of them can change.
 */
export const oneByOne = (
  handler: Handlers[number],
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  laneOf: (params: any) => string,
): Handlers[number] => ({ ...handler, laneOf });

/** The compiler does not infer that every operation is an `Operation`. */
const paired = (operation: Operation<never, never> | Operation, run: Run): Handlers[number] => ({
  operation: operation as unknown as Operation,
  run,
});

/** Pairs a read operation with its handler; the types of both must agree. */
export function handle<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: ContextOf<O>, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return paired(operation, run);
}

/**
 * Like `handle`, for a write: it makes its changes in `context.write` and returns the result of that unit unchanged, so
 * that the stored answer can be repeated.
 */
export function handleWrite<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: ContextOf<O> & Writing, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return { ...paired(operation, run), isWrite: true };
}

/**
 * Like `handleWrite`, for a write whose stored result is not its answer: it contains a sealed key, or reports a refused
 * part. `answerOf` computes the answer from the stored result, each time it is given.
 */
export function handleStored<O extends Operation<never, never> | Operation, S>(
  operation: O,
  run: (context: ContextOf<O> & Writing, params: ParamsOf<O>) => Promise<S>,
  answerOf: (stored: S) => ResultOf<O>,
): Handlers[number] {
  return { ...paired(operation, run), isWrite: true, answerOf };
}
