import { AsyncLocalStorage } from 'node:async_hooks';
import { unavailable } from '@natter/contracts';
import { createPatience, type Patience } from './patience.ts';

/** The deadline of the current work. It ends when its time is over, or earlier when its caller cancels the work. */
export interface Deadline {
  readonly hasEnded: boolean;
  /** Milliseconds; never below 0. */
  remainingMs(): number;
  /** Aborted at the end. */
  readonly signal: AbortSignal;
  /** Calls `listener` at the end; returns a function that removes it. */
  onEnd(listener: () => void): () => void;
  /** Ends now. */
  cancel(): void;
  /** How long the work waits for PostgreSQL. */
  readonly patience: Patience;
  /** Throws SERVICE_UNAVAILABLE after the end. */
  check(): void;
}

const storage = new AsyncLocalStorage<Scope | undefined>();

/** The deadline of the running request or job; undefined if none was set, or if the work that had it is finished. */
export function currentDeadline(): Deadline | undefined {
  const scope = storage.getStore();
  // Work that a request started without awaiting no longer belongs to the request.
  return scope?.isClosed ? undefined : scope;
}

/**
 * Runs `work` for at most this many milliseconds, and never longer than the surrounding work has left. By default it
 * has the patience of the surrounding work.
 */
export async function withDeadline<R>(
  ms: number,
  work: (deadline: Deadline) => Promise<R>,
  patience?: Patience,
): Promise<R> {
  const store = storage.getStore();
  const around = store?.isClosed ? undefined : store;
  const scope = new Scope(ms, around, patience ?? around?.patience ?? createPatience());
  try {
    return await storage.run(scope, () => work(scope));
  } finally {
    scope.close();
  }
}

/** Runs work that does not belong to the request that started it, without the request's deadline and cancellation. */
export const withoutDeadline = <R>(work: () => R): R => storage.run(undefined, work);

/** Resolves after `ms`; rejects with SERVICE_UNAVAILABLE if the deadline ends before. */
export function pause(ms: number): Promise<void> {
  const deadline = currentDeadline();
  return new Promise((resolve, reject) => {
    const stop = deadline?.onEnd(() => {
      clearTimeout(timer);
      reject(tooLate());
    });
    const timer = setTimeout(() => {
      stop?.();
      resolve();
    }, ms);
  });
}

/** Settles like `promise`, but rejects with SERVICE_UNAVAILABLE if the deadline ends before. */
export function untilDeadline<R>(promise: Promise<R>, deadline = currentDeadline()): Promise<R> {
  if (!deadline) return promise;
  return new Promise((resolve, reject) => {
    const stop = deadline.onEnd(() => reject(tooLate()));
    promise.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error) => {
        stop();
        reject(error);
      },
    );
  });
}

export const tooLate = (cause?: unknown) => unavailable(new Error('the deadline has passed', { cause }));

class Scope implements Deadline {
  readonly patience: Patience;
  /** End of the work, in terms of `performance.now()`. */
  readonly endsAt: number;
  isClosed = false;
  #isEnded = false;
  #listeners: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stopFollowing: (() => void) | undefined;

  constructor(ms: number, around: Scope | undefined, patience: Patience) {
    const now = performance.now();
    this.patience = patience;
    this.endsAt = Math.min(now + ms, around?.endsAt ?? Number.POSITIVE_INFINITY);
    const end = (): void => this.cancel();
    this.#stopFollowing = around?.onEnd(end);
    // The end of the surrounding work ends this work too.
    if (this.endsAt !== around?.endsAt) this.#timer = setTimeout(end, Math.max(this.endsAt - now, 0));
  }

  // The timer may be late on a busy event loop.
  get hasEnded(): boolean {
    return this.#isEnded || performance.now() >= this.endsAt;
  }

  remainingMs(): number {
    return Math.max(this.endsAt - performance.now(), 0);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isEnded) this.#controller.abort(tooLate());
    return this.#controller.signal;
  }

  onEnd(listener: () => void): () => void {
    if (this.#isEnded) {
      let isWanted = true;
      queueMicrotask(() => {
        if (isWanted) listener();
      });
      return () => {
        isWanted = false;
      };
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => {
      this.#listeners?.delete(listener);
      if (this.isClosed) this.#stopIfUnused();
    };
  }

  cancel(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stop();
    this.#controller?.abort(tooLate());
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  check(): void {
    if (this.hasEnded) throw tooLate();
  }

  close(): void {
    this.isClosed = true;
    this.#stopIfUnused();
  }

  /** Statements that were not awaited still end in time. */
  #stopIfUnused(): void {
    if ((this.#listeners?.size ?? 0) === 0) this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#stopFollowing?.();
  }
}
