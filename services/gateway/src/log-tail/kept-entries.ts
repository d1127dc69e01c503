import type { LogEntry } from '@natter/contracts';
import { heapBytes } from '@natter/service-kit';

export interface Position {
  number: number;
  n: number;
}

export const isAfter = (a: Position, b: Position): boolean =>
  a.number > b.number || (a.number === b.number && a.n > b.n);

/** The newest entries of a realm's log, in order. */
export interface KeptEntries {
  readonly length: number;
  /** Memory of the entries. */
  readonly bytes: number;
  add(entry: LogEntry): void;
  /** The first entries after a position. */
  after(position: Position, most?: number): LogEntry[];
  /** The mark of a durable entry, if it is kept. */
  markOf(number: number): number | undefined;
  /** Drops the oldest entries until at most this many bytes are left; returns the last dropped one. */
  shrinkTo(most: number): LogEntry | undefined;
  clear(): void;
}

/** Memory of the lists that hold an entry. */
const perEntry = 16;

export function createKeptEntries(): KeptEntries {
  let entries: LogEntry[] = [];
  let sizes: number[] = [];
  let bytes = 0;
  return {
    get length() {
      return entries.length;
    },
    get bytes() {
      return bytes;
    },
    add(entry) {
      const size = perEntry + heapBytes(entry);
      entries.push(entry);
      sizes.push(size);
      bytes += size;
    },
    after(position, most = entries.length) {
      const first = indexAfter(entries, position);
      return entries.slice(first, first + most);
    },
    markOf(number) {
      const entry = entries[indexAfter(entries, { number: number - 1, n: Number.POSITIVE_INFINITY })];
      return entry?.number === number && entry.n === 0 ? entry.mark : undefined;
    },
    shrinkTo(most) {
      let count = 0;
      while (bytes > most && count < entries.length) bytes -= sizes[count++] ?? 0;
      const last = entries[count - 1];
      entries = entries.slice(count);
      sizes = sizes.slice(count);
      return last;
    },
    clear() {
      entries = [];
      sizes = [];
      bytes = 0;
    },
  };
}

/** The index of the first entry after a position, found by halves. */
function indexAfter(entries: readonly LogEntry[], from: Position): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry && isAfter(entry, from)) high = middle;
    else low = middle + 1;
  }
  return low;
}
