import type { LogEntry } from '@natter/contracts';
import { withoutDeadline } from './deadline.ts';

export interface Appended {
  realmId: number;
  entries: LogEntry[];
}

declare const cannotThrow: unique symbol;

/**
 * Called with every committed append, and not awaited. Only `afterCommit` makes one, because a change that is committed
 * must not fail for its request: what a listener did not do, the sweep of event-queue does.
 */
export type OnAppended = ((appended: Appended) => void) & { readonly [cannotThrow]: true };

/** `onError` logs and counts failures of the listener; its own failures are dropped. */
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
