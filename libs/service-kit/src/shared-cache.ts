/**
 * A cache that realms share. When it is full, the realms with the most bytes lose their least recently used entries. So
 * no realm can evict entries of realms that have less than itself, and an entry is found under its own realm alone.
 */
export interface SharedCache<V> {
  get(realmId: number, key: string): V | undefined;
  /** An entry that takes more than the fair part of its realm may be dropped at once. */
  set(realmId: number, key: string, value: V): void;
  delete(realmId: number, key: string): void;
  /** Drops all entries of a realm. */
  clear(realmId: number): void;
  readonly bytes: number;
}

interface Entry<V> {
  value: V;
  bytes: number;
  until: number;
}

/** Entries by their key, the least recently used one first. */
interface Part<V> {
  entries: Map<string, Entry<V>>;
  bytes: number;
}

interface CacheOptions<V> {
  maxBytes: number;
  /** Memory of an entry, including its key. */
  sizeOf: (value: V, key: string) => number;
  /** How long an entry is found. */
  keptMs?: number;
  /** An entry was dropped or replaced. */
  onDrop?: (value: V, key: string) => void;
  now?: () => number;
}

/** Memory of the lists that hold an entry. */
const perEntry = 150;
/** Part of the maximum that is left after a search for the largest realms. */
const keptPart = 15 / 16;

export function createSharedCache<V>({
  maxBytes,
  sizeOf,
  keptMs = Number.POSITIVE_INFINITY,
  onDrop = () => undefined,
  now = () => performance.now(),
}: CacheOptions<V>): SharedCache<V> {
  const parts = new Map<number, Part<V>>();
  let total = 0;

  function drop(realmId: number, part: Part<V>, key: string): void {
    const entry = part.entries.get(key);
    if (!entry) return;
    part.entries.delete(key);
    part.bytes -= entry.bytes;
    total -= entry.bytes;
    if (part.entries.size === 0) parts.delete(realmId);
    onDrop(entry.value, key);
  }

  /** Finds the number of bytes that no realm may exceed, so that all together leave some room. */
  function makeRoom(): void {
    const largest = [...parts].sort(([, a], [, b]) => b.bytes - a.bytes);
    const wanted = maxBytes * keptPart;
    let [others, level] = [total, 0];
    for (const [index, [, { bytes }]] of largest.entries()) {
      others -= bytes;
      level = (wanted - others) / (index + 1);
      if (level >= (largest[index + 1]?.[1].bytes ?? 0)) break;
    }
    for (const [realmId, part] of largest)
      for (const key of part.entries.keys()) {
        if (part.bytes <= level) break;
        drop(realmId, part, key);
      }
  }

  return {
    get(realmId, key) {
      const part = parts.get(realmId);
      const entry = part?.entries.get(key);
      if (!part || !entry) return undefined;
      if (entry.until <= now()) {
        drop(realmId, part, key);
        return undefined;
      }
      part.entries.delete(key);
      part.entries.set(key, entry);
      return entry.value;
    },
    set(realmId, key, value) {
      const known = parts.get(realmId);
      if (known) drop(realmId, known, key);
      const part = parts.get(realmId) ?? { entries: new Map(), bytes: 0 };
      parts.set(realmId, part);
      const bytes = perEntry + sizeOf(value, key);
      part.entries.set(key, { value, bytes, until: now() + keptMs });
      part.bytes += bytes;
      total += bytes;
      if (total > maxBytes) makeRoom();
    },
    delete(realmId, key) {
      const part = parts.get(realmId);
      if (part) drop(realmId, part, key);
    },
    clear(realmId) {
      const part = parts.get(realmId);
      for (const key of part?.entries.keys() ?? []) if (part) drop(realmId, part, key);
    },
    get bytes() {
      return total;
    },
  };
}
