import { t } from '../text/text.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';
import { type Task, useTask } from './use-task.ts';

/** The place of one thing in its list, for its buttons. */
export interface Place {
  isBusy: boolean;
  isFirst: boolean;
  isLast: boolean;
  onMove: (step: number) => void;
}

interface OrderedList<T> extends Loaded<readonly T[]> {
  /** The result of the last change of the list itself. */
  task: Task;
  /** Changes the list itself: adds, removes or moves an entry. */
  edit: (work: () => Promise<unknown>, done: string) => void;
  placeOf: (at: number) => Place;
}

interface Source<T> {
  /** The same function each time. */
  fetch: () => Promise<readonly T[]>;
  reorder: (ids: number[]) => Promise<unknown>;
}

/** A list of the server that no event changes, and whose order administrators choose. */
export function useOrderedList<T extends { id: number }>({ fetch, reorder }: Source<T>): OrderedList<T> {
  const loaded = useLoaded(fetch);
  const task = useTask();
  const edit = (work: () => Promise<unknown>, done: string): void => void task.run(() => loaded.change(work), done);
  const ids = (loaded.data ?? []).map(({ id }) => id);
  const placeOf = (at: number): Place => ({
    isBusy: task.isBusy,
    isFirst: at === 0,
    isLast: at === ids.length - 1,
    onMove: (step) =>
      edit(
        () => reorder(ids.toSpliced(at, 1).toSpliced(at + step, 0, ...ids.slice(at, at + 1))),
        t('theOrderIsChanged'),
      ),
  });
  return { ...loaded, task, edit, placeOf };
}
