import type { QueueRecord } from '@natter/contracts';
import { LRUCache } from 'lru-cache';
import { isAfter, type Position } from '../log-tail/kept-entries.ts';

/** A stretch of the log without an entry for a queue: all entries after `from`, up to and including `through`. */
interface Gap {
  from: Position;
  through: Position;
  /** Number of its entries, or less. */
  length: number;
}

/**
 * Long stretches of the log that were scanned for a queue without a match, so that no cursor makes a gateway scan them
 * again. The filter of a queue never changes, so an entry that does not pass it never will.
 */
export interface ScannedGaps {
  /** The end of the gap in which the position lies; undefined if it lies in none. */
  endOf(view: string, position: Position): Position | undefined;
  add(view: string, gap: Gap): void;
}

/** Scanning a shorter one again costs as little as remembering it. */
export const leastGap = 200;
/** The longest ones of a queue are kept. */
const maxGaps = 8;

/** `maxQueues`: maximum number of queues that have gaps. */
export function createScannedGaps(maxQueues: number): ScannedGaps {
  const byView = new LRUCache<string, Gap[]>({
    max: maxQueues,
    maxSize: 2 * maxQueues,
    sizeCalculation: ({ length }) => length,
  });
  return {
    endOf: (view, position) => byView.get(view)?.find((gap) => holds(gap, position))?.through,
    add(view, gap) {
      if (gap.length < leastGap) return;
      const known = byView.get(view) ?? [];
      const joined = known.filter((other) => meets(other, gap)).reduce(union, gap);
      const apart = known.filter((other) => !meets(other, gap));
      byView.set(view, [joined, ...apart].sort((a, b) => b.length - a.length).slice(0, maxGaps));
    },
  };
}

/**
 * The key of what a queue receives. Positions of another epoch are other entries; a guest receives less from a queue of
 * all public channels.
 */
export const viewOf = ({ queue_id, epoch, all_public_streams }: QueueRecord, isGuest: boolean): string =>
  `${queue_id} ${epoch} ${all_public_streams && isGuest}`;

const holds = ({ from, through }: Gap, position: Position): boolean =>
  !isAfter(from, position) && isAfter(through, position);

const meets = (a: Gap, b: Gap): boolean => !isAfter(a.from, b.through) && !isAfter(b.from, a.through);

const union = (a: Gap, b: Gap): Gap => ({
  from: isAfter(a.from, b.from) ? b.from : a.from,
  through: isAfter(a.through, b.through) ? a.through : b.through,
  length: Math.max(a.length, b.length),
});
