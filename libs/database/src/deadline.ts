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

interface Scope extends Deadline {
  readonly endsAt: number;
  readonly isClosed: boolean;
  close(): void;
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
  const scope = createScope(ms, around, patience ?? around?.patience ?? createPatience());
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
    promise.then(resolve, reject).finally(stop);
  });
}

export const tooLate = (cause?: unknown) => unavailable(new Error('the deadline has passed', { cause }));

function createScope(ms: number, around: Scope | undefined, patience: Patience): Scope {
  const now = performance.now();
  const endsAt = Math.min(now + ms, around?.endsAt ?? Number.POSITIVE_INFINITY);
  const listeners = new Set<() => void>();
  let controller: AbortController | undefined;
  let isEnded = false;
  let isClosed = false;

  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    stop();
    controller?.abort(tooLate());
    for (const listener of listeners) listener();
    listeners.clear();
  };
  const timer = setTimeout(end, Math.max(endsAt - now, 0));
  const stopFollowing = around?.onEnd(end);
  const stop = (): void => {
    clearTimeout(timer);
    stopFollowing?.();
  };

  return {
    endsAt,
    patience,
    get isClosed() {
      return isClosed;
    },
    // The timer may be late on a busy event loop.
    get hasEnded() {
      return isEnded || performance.now() >= endsAt;
    },
    remainingMs: () => Math.max(endsAt - performance.now(), 0),
    get signal() {
      controller ??= new AbortController();
      if (isEnded) controller.abort(tooLate());
      return controller.signal;
    },
    onEnd(listener) {
      if (isEnded) {
        let isWanted = true;
        queueMicrotask(() => {
          if (isWanted) listener();
        });
        return () => {
          isWanted = false;
        };
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (isClosed && listeners.size === 0) stop();
      };
    },
    cancel: end,
    check() {
      if (isEnded || performance.now() >= endsAt) throw tooLate();
    },
    close() {
      isClosed = true;
      // Statements that were not awaited still end in time.
      if (listeners.size === 0) stop();
    },
  };
}
