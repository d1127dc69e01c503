import { untilDeadline } from './deadline.ts';

/** Runs work of one key sequentially within this process, in order of arrival. `hasNext`: whether other work waits. */
export type InLane = <R>(key: string, work: (hasNext: () => boolean) => Promise<R>) => Promise<R>;

/** `onEmpty` is called when the last work of a key has ended. */
export function createLanes(onEmpty: (key: string) => void = () => undefined): InLane {
  /** Waiting work, by the key of the running work. */
  const lanes = new Map<string, (() => void)[]>();

  const leave = (key: string): void => {
    const next = lanes.get(key)?.shift();
    if (next) next();
    else {
      lanes.delete(key);
      onEmpty(key);
    }
  };

  async function turnIn(key: string, waiting: (() => void)[]): Promise<void> {
    let start: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    waiting.push(start);
    try {
      await untilDeadline(started);
    } catch (error) {
      const place = waiting.indexOf(start);
      if (place >= 0) waiting.splice(place, 1);
      else leave(key);
      throw error;
    }
  }

  return async (key, work) => {
    const waiting = lanes.get(key);
    if (waiting) await turnIn(key, waiting);
    else lanes.set(key, []);
    try {
      return await work(() => (lanes.get(key)?.length ?? 0) > 0);
    } finally {
      leave(key);
    }
  };
}
