import { Decaying } from '@natter/service-kit';

/** A user of a realm, or a network without an account. */
export interface Person {
  /** Recent CPU milliseconds beyond those that any request may take. */
  cost: Decaying;
  requests: Decaying;
  /** Number of requests that were answered since the user was added to the lane. */
  answers: number;
  seenAt: number;
}

/**
 * The kinds of users whose requests the lane limits, called held users: newcomers, with too few answered requests for an
 * estimate of their cost, and costly users, whose requests were expensive. Each kind waits in its own queue, so that
 * newcomers do not wait for expensive requests.
 */
export const kinds = ['newcomer', 'costly'] as const;
export type Kind = (typeof kinds)[number];

/** A request of a held user in flight. */
export interface Held {
  kind: Kind;
  /** The credit of newer requests with cheap answers. It raises the cap when this request is answered too. */
  credit: number;
}

/** CPU milliseconds that any request may take without being expensive. */
export const cheapMs = 10;
/** Recent cost above which a user may be held as costly. */
export const personCostMs = 20;
/** While the cost of a realm is below this, a cap of 1 or more is not lowered, and cheap answers raise it. */
const lowCostMs = 400;
/** The cap of a new realm, which is low because requests in flight cannot be stopped, and the highest cap. */
const [startCap, maxCap] = [2, 1_024];
/**
 * A cap of 1 or more is not lowered below 1 while the cost of the realm at this gateway is less than this per user. For the
 * realm this is at least `minHighCostMs` and at most `maxHighCostMs`.
 */
const [highCostOfPersonMs, minHighCostMs, maxHighCostMs] = [5, 200, 1_000];
const minCap = 0.05;
/** The lowest cap per user of a realm, as a fraction of time, so that a large realm keeps more than a small one. */
const capOfPerson = 0.001;
/** The minimum fraction of time in which a newcomer's request may run. */
const newcomerCap = 0.15;
const maxPauseMs = 5_000;
const costHalfLifeMs = 5_000;

/**
 * A realm in the lane of expensive requests. Its cap limits the requests in flight from held users: a cap of 1 or more is
 * their number; a cap below 1 is the fraction of time in which one request of each kind may run.
 */
export class LaneRealm {
  /** Recent CPU milliseconds of all users beyond those that any request may take. */
  readonly cost: Decaying;
  /** Recent CPU milliseconds of all requests. */
  readonly total: Decaying;
  readonly people = new Map<number, Person>();
  /** Networks without an account, which do not make a realm larger. */
  readonly strangers = new Map<number, Person>();
  /** Time when the last request of the realm began. */
  seenAt: number;
  #cap = startCap;
  /** Oldest first. */
  readonly #held: Held[] = [];
  /** The earliest time when the next request of a kind starts, if the cap is below 1. */
  readonly #pausedUntil: Record<Kind, number> = { newcomer: 0, costly: 0 };
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.seenAt = now();
    this.cost = new Decaying(now, costHalfLifeMs);
    this.total = new Decaying(now, costHalfLifeMs);
  }

  get cap(): number {
    return this.#cap;
  }

  /** How many requests of held users are in flight. */
  get heldInFlight(): number {
    return this.#held.length;
  }

  get isAtFloor(): boolean {
    return this.#cap <= this.#leastCap;
  }

  mayStart(kind: Kind): boolean {
    if (this.#cap >= 1) return this.#held.length < this.#cap;
    return this.#pausedUntil[kind] <= this.#now() && this.#held.every((other) => other.kind !== kind);
  }

  begin(held: Held): void {
    this.#held.push(held);
  }

  /** Call it when a request of a held user has ended. Returns how long the next one of this kind has to wait at least. */
  end(held: Held, costMs: number): number {
    this.#credit(held, costMs);
    if (this.#cap >= 1) return 0;
    const share = held.kind === 'newcomer' ? Math.max(this.#cap, newcomerCap) : this.#cap;
    const pauseMs = Math.min(costMs * (1 / share - 1), maxPauseMs);
    this.#pausedUntil[held.kind] = this.#now() + pauseMs;
    return pauseMs;
  }

  /**
   * A cheap answer raises the cap, but only when all older requests are answered too: expensive requests take long, so
   * cheap ones that overtake them would raise the cap before any cost is known. An expensive answer reduces the credit of
   * cheap ones by its cost. If its user is a newcomer, it also lowers the cap by its cost, because other newcomers may send
   * such requests too.
   */
  #credit(ended: Held, costMs: number): void {
    const credit = Math.max(0, ended.credit + (costMs <= cheapMs ? 1 : -costMs / cheapMs));
    const at = this.#held.indexOf(ended);
    this.#held.splice(at, 1);
    if (ended.kind === 'newcomer' && costMs - cheapMs >= personCostMs && this.#cap > startCap)
      this.#cap = Math.max(startCap, this.#cap - costMs / cheapMs);
    const older = this.#held[at - 1];
    if (older) older.credit += credit;
    else if (this.#cap >= startCap && this.cost.sum < lowCostMs) this.#cap = Math.min(maxCap, this.#cap + credit);
  }

  /** Call it if the realm was not active lately. */
  restart(): void {
    this.#cap = Math.min(this.#cap, startCap);
  }

  /** Call it if no other realm is active. */
  open(): void {
    this.#cap = maxCap;
  }

  /**
   * Call it while realms are delayed. `costMs`: the cost of the realm's expensive requests at all gateways, if it delays
   * others.
   */
  lower(costMs: number): void {
    if (costMs <= (this.#cap < 1 ? 0 : lowCostMs)) return;
    const inFlight = Math.max(this.#held.length, 1);
    this.#cap = Math.max(this.#leastCap, Math.min(this.#cap, inFlight) * 0.5);
  }

  /**
   * Call it while work of other realms causes the delay. Before this work was reported, the realm may have seemed to cause it.
   */
  recover(): void {
    if (this.#cap < startCap) this.#cap = Math.min(startCap, this.#cap * 1.25);
  }

  /**
   * Call it while no realm is delayed. It raises the cap in steps, also if the lag had another cause: all waiting requests
   * at once would delay other realms for seconds.
   */
  raise(hasWaiting: boolean): void {
    // Below 1 it rises slowly, because the capacity for expensive requests is uncertain, and more slowly without such requests.
    const isIdle = this.#held.length === 0 && !hasWaiting;
    const factor = isIdle ? 1.005 : this.#cap < 1 ? 1.05 : 1.25;
    if (this.#cap < startCap) this.#cap = Math.min(startCap, this.#cap * factor);
    // No realm is delayed, so requests need not wait for cheap answers that raise the cap.
    else if (hasWaiting) this.#cap = Math.min(maxCap, this.#cap * 1.1);
  }

  /** The lowest cap at present. */
  get #leastCap(): number {
    // Requests without an account count as one realm. They include the logins of all organizations.
    if (this.people.size === 0) return 1;
    const highCostMs = Math.min(maxHighCostMs, Math.max(minHighCostMs, this.people.size * highCostOfPersonMs));
    if (this.#cap >= 1 && this.cost.sum <= highCostMs) return 1;
    return Math.min(1, Math.max(minCap, this.people.size * capOfPerson));
  }
}
