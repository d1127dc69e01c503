const halfLifeMs = 5_000;

/** Milliseconds that requests were in flight lately. */
export class Usage {
  #ms = 0;
  #at: number;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#at = now();
  }

  get ms(): number {
    const at = this.#now();
    this.#ms *= 0.5 ** ((at - this.#at) / halfLifeMs);
    this.#at = at;
    return this.#ms;
  }

  add(ms: number): void {
    this.#ms = this.ms + ms;
  }
}

const watchFloorMs = 2_000;

/**
 * Tells whether the lag is too high. Lag that never goes away while the least possible is in flight has another cause than our
 * requests, so it raises the threshold for a while.
 */
export class Threshold {
  readonly #usualMs: number;
  #foreignMs = 0;
  #floor: { since: number; lowestMs: number } | undefined;

  constructor(usualMs: number) {
    this.#usualMs = usualMs;
  }

  /** Call it at regular times; `at` is in milliseconds. */
  isExceeded(lagMs: number, isAtFloor: boolean, at: number): boolean {
    this.#foreignMs *= 0.998;
    if (!isAtFloor) this.#floor = undefined;
    else {
      this.#floor ??= { since: at, lowestMs: lagMs };
      this.#floor.lowestMs = Math.min(this.#floor.lowestMs, lagMs);
      if (at - this.#floor.since >= watchFloorMs) {
        this.#foreignMs = this.#floor.lowestMs;
        this.#floor = undefined;
      }
    }
    return lagMs > Math.max(this.#usualMs, this.#foreignMs * 2);
  }
}
