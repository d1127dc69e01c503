import type { Actor, Operation, ParamsOf, RequestMeta, ResultOf } from '@natter/contracts';
import type { Claim, Deadline } from '@natter/database';
import type { JsonPieces } from './json-pieces.ts';
import type { Logger } from './logging.ts';

export interface Context {
  /** Absent only for operations that anyone may call. */
  actor: Actor | undefined;
  meta: RequestMeta;
  log: Logger;
  /** 0 at first; higher when the handler runs again because expected versions had changed: caches must be refreshed. */
  attempt: number;
  /** This service's copies hold all that was committed before this attempt. */
  hasCaughtUp: boolean;
  /** The key of a write, for the unit that makes the change: its result is stored as the answer. */
  claim: Claim | undefined;
  /** Ends when the caller gives up. Statements and calls of a handler end with it by themselves. */
  deadline: Deadline;
  /** The deadline's, for what takes a signal. */
  signal: AbortSignal;
}

/** A context whose caller is known. */
export type UserContext = Context & { actor: Actor };

// biome-ignore lint/suspicious/noExplicitAny: handlers of different operations share a table; `handle` checks each pair.
type Run = (context: any, params: any) => Promise<unknown>;
export type Handlers = {
  operation: Operation;
  run: Run;
  /** What the requests concern that this process serves one after the other. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  laneOf?: ((params: any) => string) | undefined;
  /** Makes the answer of what is stored. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  answerOf?: ((stored: any) => unknown) | undefined;
}[];

/** Requests that concern the same thing wait for each other, before they decide on what only one of them can change. */
export const oneByOne = (
  handler: Handlers[number],
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  laneOf: (params: any) => string,
): Handlers[number] => ({ ...handler, laneOf });

/**
 * Pairs an operation with its handler; the types of both must agree. A write answers with the very result of the unit that took
 * `context.claim`: nothing is added to it after the commit, so that the answer can be given again.
 */
export function handle<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: UserContext, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return { operation: operation as unknown as Operation, run: run as Handlers[number]['run'] };
}

/** As `handle`, for operations that spectators may call: the actor may be absent. */
export function handleOpen<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: Context, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return { operation: operation as unknown as Operation, run: run as Handlers[number]['run'] };
}

/**
 * As `handle`, for a write whose stored result is not its answer: it holds a key that is sealed, or says that a part was refused.
 * `answerOf` makes the answer of it, at first and whenever it is given again.
 */
export function handleStored<O extends Operation<never, never> | Operation, S>(
  operation: O,
  run: (context: UserContext, params: ParamsOf<O>) => Promise<S>,
  answerOf: (stored: S) => ResultOf<O>,
): Handlers[number] {
  return { operation: operation as unknown as Operation, run: run as Handlers[number]['run'], answerOf };
}
