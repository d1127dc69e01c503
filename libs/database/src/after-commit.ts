import type { LogEntry, Operation } from '@natter/contracts';
import { withoutDeadline } from './deadline.ts';

export interface Appended {
  realmId: number;
  entries: LogEntry[];
  /** The operation whose request emitted all of them; undefined for consumers, timers and batches of sends. */
  operation?: Pick<Operation, 'name' | 'events'> | undefined;
}

declare const cannotThrow: unique symbol;

/**
 * Called with the entries of every commit, and not awaited. It must not throw, because the request of a committed change
 * must not fail, so only `afterCommit` creates one. If the listener fails, the sweep of event-queue appends the entries.
 */
export type OnAppended = ((appended: Appended) => void) & { readonly [cannotThrow]: true };

/** `onError` logs and counts failures of the listener. Failures of `onError` itself are ignored. */
export function afterCommit(
  listener: (appended: Appended) => void | Promise<void>,
  onError: (error: unknown, realmId: number) => void,
): OnAppended {
  const run = async (appended: Appended): Promise<void> => listener(appended);
  const onAppended = (appended: Appended): void => {
    if (appended.entries.length === 0) return;
    withoutDeadline(() => run(appended))
      .catch((error: unknown) => onError(error, appended.realmId))
      .catch(() => undefined);
  };
  return onAppended as OnAppended;
}
