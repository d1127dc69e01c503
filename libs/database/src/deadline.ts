import { AsyncLocalStorage } from 'node:async_hooks';
import { unavailable } from '@natter/contracts';

/** How long the work under way may take. It ends when its time is over, or earlier when its caller cancels it. */
export interface Deadline {
  readonly hasEnded: boolean;
  /** Milliseconds; never below 0. */
  remainingMs(): number;
  /** Aborted at the end. */
  readonly signal: AbortSignal;
  /** Calls `listener` at the end; returns a function that takes it back. */
  onEnd(listener: () => void): () => void;
  /** Ends now. */
  cancel(): void;
  /** Throws SERVICE_UNAVAILABLE after the end. */
  check(): void;
}

interface Scope extends Deadline {
  readonly endsAt: number;
  readonly isClosed: boolean;
  close(): void;
}

const storage = new AsyncLocalStorage<Scope | undefined>();

/** The deadline of the request or job that is running; undefined where none was set, or the work that had it is finished. */
export function currentDeadline(): Deadline | undefined {
  const scope = storage.getStore();
  // Work that a request started and did not wait for is no longer the request's.
  return scope?.isClosed ? undefined : scope;
}

/** Runs `work` with at most this many milliseconds, and never more than the work around it has left. */
export async function withDeadline<R>(ms: number, work: (deadline: Deadline) => Promise<R>): Promise<R> {
  const around = storage.getStore();
  const scope = createScope(ms, around?.isClosed ? undefined : around);
  try {
    return await storage.run(scope, () => work(scope));
  } finally {
    scope.close();
  }
}

/** Runs what does not belong to the request that started it: it keeps neither its deadline nor its cancellation. */
export const withoutDeadline = <R>(work: () => R): R => storage.run(undefined, work);

/** Resolves after `ms`; rejects with SERVICE_UNAVAILABLE when the deadline ends before. */
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

/** Settles as `promise` does, but rejects with SERVICE_UNAVAILABLE when the deadline ends before. */
export function untilDeadline<R>(promise: Promise<R>, deadline = currentDeadline()): Promise<R> {
  if (!deadline) return promise;
  return new Promise((resolve, reject) => {
    const stop = deadline.onEnd(() => reject(tooLate()));
    promise.then(resolve, reject).finally(stop);
  });
}

export const tooLate = (cause?: unknown) => unavailable(new Error('the deadline has passed', { cause }));

function createScope(ms: number, around: Scope | undefined): Scope {
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
    get isClosed() {
      return isClosed;
    },
    // The timer may be late where the event loop is busy.
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
        queueMicrotask(listener);
        return () => undefined;
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
      // Statements that nobody waited for still end in time.
      if (listeners.size === 0) stop();
    },
  };
}
