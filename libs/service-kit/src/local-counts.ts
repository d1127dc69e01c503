/** Counts of this process alone, used while Redis is unavailable. Bounded; the oldest count is dropped first. */
export interface LocalCounts {
  get(key: string): number;
  /** Adds to a count that ends some seconds after its first addition. */
  add(key: string, by: number, seconds: number): number;
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
  return {
    get: (key) => live(key)?.count ?? 0,
    add(key, by, seconds) {
      const found = live(key);
      if (found) {
        found.count += by;
        return found.count;
      }
      if (counts.size >= most) counts.delete(counts.keys().next().value ?? '');
      counts.set(key, { count: by, until: now() + seconds * 1000 });
      return by;
    },
    left: (key) => Math.max(0, Math.ceil(((live(key)?.until ?? 0) - now()) / 1000)),
    drop: (key) => void counts.delete(key),
  };
}
