/**
 * Counts of this process, each for some seconds. Bounded; the oldest count is dropped first. Counters in Redis use them
 * while Redis is unavailable or slow.
 */
export interface LocalCounts {
  get(key: string): number;
  /** Adds to a count that ends some seconds after its first addition. */
  add(key: string, by: number, seconds: number): number;
  /** Raises a count to at least `to`. A new count ends after `seconds`. */
  raise(key: string, to: number, seconds: number): void;
  /** Whole seconds until a count ends; 0 if there is none. */
  left(key: string): number;
  drop(key: string): void;
}

export function createLocalCounts(most = 20_000, now: () => number = () => performance.now()): LocalCounts {
  const counts = new Map<string, { count: number; until: number }>();
  const live = (key: string) => {
    const found = counts.get(key);
    if (found && found.until > now()) return found;
    counts.delete(key);
    return undefined;
  };
  const begin = (key: string, count: number, seconds: number): number => {
    if (counts.size >= most) counts.delete(counts.keys().next().value ?? '');
    counts.set(key, { count, until: now() + seconds * 1000 });
    return count;
  };
  return {
    get: (key) => live(key)?.count ?? 0,
    add(key, by, seconds) {
      const found = live(key);
      if (!found) return begin(key, by, seconds);
      found.count += by;
      return found.count;
    },
    raise(key, to, seconds) {
      const found = live(key);
      if (!found && to > 0) begin(key, to, seconds);
      else if (found && found.count < to) found.count = to;
    },
    left: (key) => Math.max(0, Math.ceil(((live(key)?.until ?? 0) - now()) / 1000)),
    drop: (key) => void counts.delete(key),
  };
}
