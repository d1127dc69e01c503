import { useCallback, useEffect, useState } from 'react';
import { t } from '../text/text.ts';
import { type Task, useTask } from './use-task.ts';

/** The place of one thing in its list, for its buttons. */
export interface Place {
  isBusy: boolean;
  isFirst: boolean;
  isLast: boolean;
  onMove: (step: number) => void;
}

interface OrderedList<T> {
  /** Undefined until the list is loaded. */
  all: readonly T[] | undefined;
  task: Task;
  load: () => Promise<void>;
  /** Changes something, and loads the list again. */
  change: (work: () => Promise<unknown>, done: string) => void;
  placeOf: (at: number) => Place;
}

interface Source<T> {
  /** The same function each time. */
  fetch: () => Promise<readonly T[]>;
  reorder: (ids: number[]) => Promise<unknown>;
}

/** A list of the server that no event changes, and whose order administrators choose. */
export function useOrderedList<T extends { id: number }>({ fetch, reorder }: Source<T>): OrderedList<T> {
  const [all, setAll] = useState<readonly T[]>();
  const task = useTask();
  const load = useCallback(async () => setAll(await fetch()), [fetch]);
  useEffect(() => void task.run(load), [load]);
  const change = (work: () => Promise<unknown>, done: string): void =>
    // Also after a refusal: another administrator may have changed the list.
    void task.run(() => work().finally(load), done);
  const ids = (all ?? []).map(({ id }) => id);
  const placeOf = (at: number): Place => ({
    isBusy: task.isBusy,
    isFirst: at === 0,
    isLast: at === ids.length - 1,
    onMove: (step) =>
      change(
        () => reorder(ids.toSpliced(at, 1).toSpliced(at + step, 0, ...ids.slice(at, at + 1))),
        t('theOrderIsChanged'),
      ),
  });
  return { all, task, load, change, placeOf };
}
