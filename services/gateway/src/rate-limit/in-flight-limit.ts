import type { Lag } from '@natter/service-kit';
import { InFlight } from './in-flight.ts';
import type { Tenant } from './tenant.ts';
import { Threshold } from './usage.ts';

/** When a load begins, at most `startLimit` requests may be in flight, because requests that have begun cannot be refused. */
const [minLimit, startLimit, maxLimit] = [16, 128, 1_024];
/** Lag above which too many requests are in flight. */
const overloadLagMs = 40;
/** Requests are slow if half of them take longer than this, or if the newest request in flight is expected to take longer. */
const slowMs = 200;
/** Slowness does not lower the limit below this: requests that are as slow with so few have another cause. */
const minSlowLimit = 64;
/** Slowness is judged by at least this many requests that ended. */
const judgedBy = 32;
/** A judgement is valid for this long, because requests may end in batches. */
const judgedForMs = 2_000;

/**
 * How many requests may be in flight: fewer while the system lags or is slow, and more again otherwise. A realm, or a user,
 * with less than an equal share in flight does not wait for requests that are stuck.
 */
export class InFlightLimit {
  #limit = startLimit;
  readonly #requests: InFlight;
  readonly #overload = new Threshold(overloadLagMs);
  readonly #slowness = new Threshold(slowMs);
  /** Milliseconds in flight of the requests that ended since slowness was judged. */
  #took: number[] = [];
  #slow: { is: boolean; at: number };
  /** Since when more than `minSlowLimit` are in flight, and how many ended since then. */
  #crowd: { since: number; ended: number };
  #judgedAt = Number.NEGATIVE_INFINITY;
  readonly #lag: () => Lag;
  readonly #now: () => number;

  /** `lag`: how long messages wait in the event loops of the system. */
  constructor(lag: () => Lag, now: () => number) {
    this.#lag = lag;
    this.#now = now;
    this.#requests = new InFlight(now);
    this.#slow = { is: false, at: now() };
    this.#crowd = { since: now(), ended: 0 };
  }

  get inFlight(): number {
    return this.#requests.size;
  }

  /** Whether a request may begin if `others` further requests begin before it. */
  hasRoom(others = 0): boolean {
    return this.inFlight + others < this.#limit;
  }

  /** Whether a request of the realm may begin although the limit is reached, because others are stuck. */
  hasRealmRoom(realmId: number): boolean {
    return this.#requests.hasRealmRoom(realmId, this.#limit);
  }

  /** Whether a request of the user may begin although the limit is reached, because others are stuck. */
  hasUserRoom(tenant: Tenant): boolean {
    return this.#requests.hasUserRoom(tenant, this.#limit);
  }

  /** Returns the function that ends the request. */
  begin(tenant: Tenant): () => void {
    const end = this.#requests.begin(tenant);
    return () => {
      this.#took.push(end());
      this.#crowd.ended++;
    };
  }

  /** Call it at regular intervals. */
  adjust(): void {
    this.#requests.look();
    this.#judgeSlowness();
    const isLagging = this.#overload.isExceeded(this.#lag().ms, this.#limit <= minLimit, this.#now());
    if (isLagging) this.#lower(minLimit);
    else if (this.#slow.is && this.inFlight > minSlowLimit) this.#lower(minSlowLimit);
    else this.#raise();
  }

  /** Call it when no request is in flight or waits: the next load begins with `startLimit`. */
  reset(): void {
    this.#limit = startLimit;
  }

  #judgeSlowness(): void {
    // When a load begins, the first requests to end were fast. Their durations alone would show too late that too many
    // requests are in flight.
    const laterMs = this.#expectedMs();
    const at = this.#now();
    if (this.#took.length >= judgedBy) {
      const ms = Math.max(medianOf(this.#took), laterMs);
      this.#slow = { is: this.#slowness.isExceeded(ms, this.inFlight <= minSlowLimit, at), at };
      this.#judgedAt = at;
    } else if (at - this.#slow.at > judgedForMs) this.#slow = { is: false, at };
    else return;
    this.#took = [];
  }

  /** How long the newest request in flight will take, at the rate at which requests ended. Stuck requests are left out. */
  #expectedMs(): number {
    const { moving } = this.#requests;
    if (moving <= minSlowLimit) this.#crowd = { since: this.#now(), ended: 0 };
    const { since, ended } = this.#crowd;
    return ended >= judgedBy ? (moving * (this.#now() - since)) / ended : 0;
  }

  #lower(lowest: number): void {
    if (this.#limit > lowest) this.#limit = Math.max(lowest, Math.min(this.#limit, this.inFlight) * 0.85);
  }

  #raise(): void {
    const highest = this.#slow.is ? Math.max(this.#limit, minSlowLimit) : Math.max(startLimit, this.inFlight * 2);
    // Too few requests ended recently to decide whether the limit is too high.
    const isUnknown = this.inFlight > minSlowLimit && this.#now() - this.#judgedAt > judgedForMs;
    this.#limit = Math.min(highest, isUnknown ? this.#limit * 2 : this.#limit * 1.1 + 1, maxLimit);
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
