/** A count for each key, such as the requests of a user that run. Keys whose count is 0 take no memory. */
export class Counts<K> implements Iterable<[K, number]> {
  readonly #counts = new Map<K, number>();

  /** The number of keys whose count is above 0. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: K): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: K, by = 1): void {
    const count = this.of(key) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }

  [Symbol.iterator](): IterableIterator<[K, number]> {
    return this.#counts.entries();
  }
}
