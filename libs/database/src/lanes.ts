import { untilDeadline } from './deadline.ts';

/** Runs work of one key one after the other within this process, first come, first served. */
export type InLane = <R>(key: string, work: () => Promise<R>) => Promise<R>;

export function createLanes(): InLane {
  const ends = new Map<string, Promise<void>>();
  return async (key, work) => {
    const before = ends.get(key);
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const end = before ? before.then(() => left) : left;
    ends.set(key, end);
    try {
      if (before) await untilDeadline(before);
      return await work();
    } finally {
      leave();
      if (ends.get(key) === end) ends.delete(key);
    }
  };
}
