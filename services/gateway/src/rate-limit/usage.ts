const halfLifeMs = 5_000;

/** The time for which requests were in flight recently, in milliseconds, including those still in flight. */
export class Usage {
  #ms = 0;
  #inFlight = 0;
  #at: number;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#at = now();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get ms(): number {
    const passedMs = this.#now() - this.#at;
    this.#ms = this.#ms * 0.5 ** (passedMs / halfLifeMs) + this.#inFlight * passedMs;
    this.#at += passedMs;
    return this.#ms;
  }

  begin(): void {
    this.#ms = this.ms;
    this.#inFlight++;
  }

  end(): void {
    this.#ms = this.ms;
    this.#inFlight--;
  }
}

/** If lag persists for this long at the minimum number of requests, it has another cause than requests. */
const watchFloorMs = 2_000;
/** The stored lag with another cause decreases with this half-life. */
const foreignHalfLifeMs = 35_000;
/** The mean lag follows the measured lag with this half-life. */
const smoothHalfLifeMs = 700;

/**
 * Decides whether a lag is too high. If it persists while only the minimum number of requests is in flight, these requests
 * are not its cause: the threshold is then raised to twice this lag, and falls again over time.
 */
export class Threshold {
  readonly #usualMs: number;
  #at: number | undefined;
  /** The lag that has another cause than requests. */
  #foreignMs = 0;
  #smoothMs = 0;
  /** The lowest lag since only the minimum number of requests has been in flight. */
  #floor: { since: number; lowestMs: number } | undefined;

  constructor(usualMs: number) {
    this.#usualMs = usualMs;
  }

  /**
   * Call it at regular intervals; `at` is the time in milliseconds. `isAtFloor`: whether the limit of requests in flight is
   * at its minimum.
   */
  isExceeded(lagMs: number, isAtFloor: boolean, at: number): boolean {
    const passedMs = at - (this.#at ?? at);
    this.#at = at;
    this.#foreignMs *= 0.5 ** (passedMs / foreignHalfLifeMs);
    this.#smoothMs += (lagMs - this.#smoothMs) * (1 - 0.5 ** (passedMs / smoothHalfLifeMs));
    if (!isAtFloor) this.#floor = undefined;
    else {
      this.#floor ??= { since: at, lowestMs: lagMs };
      this.#floor.lowestMs = Math.min(this.#floor.lowestMs, lagMs);
      if (at - this.#floor.since >= watchFloorMs) {
        this.#foreignMs = this.#floor.lowestMs;
        this.#floor = undefined;
      }
    }
    return lagMs > this.#limitMs;
  }

  /** Whether the mean lag of the last second is far below the threshold. */
  get isCalm(): boolean {
    return this.#smoothMs < Math.max(this.#usualMs * 0.5, this.#foreignMs * 1.5);
  }

  get #limitMs(): number {
    return Math.max(this.#usualMs, this.#foreignMs * 2);
  }
}
