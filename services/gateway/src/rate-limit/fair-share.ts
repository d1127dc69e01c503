import { type Lag, overloaded, WaitingTasks } from '@natter/service-kit';
import type { Tenant } from './tenant.ts';
import { Decaying, Threshold, Usage } from './usage.ts';

/**
 * Decides when requests may proceed to the services: at once while the system keeps up. Otherwise it lowers the number
 * of requests in flight, and serves the realm and the user with the least recent use first.
 */
export interface FairShare {
  /**
   * Rejects with SERVICE_UNAVAILABLE if `work` cannot start within its deadline, and at once if too many requests wait
   * already. A person who used far less than others of the realm is not refused because of them.
   */
  run<R>(tenant: Tenant, work: () => Promise<R>): Promise<R>;
  /**
   * Whether `run` would refuse a request of the tenant because too many wait, after so many others of the realm. If so, it
   * counts as refused.
   */
  refuses(tenant: Tenant, others: number): boolean;
  /** Realms that sent more than was answered lately; not the one of requests without an account. */
  crowding(): ReadonlySet<number>;
  readonly inFlight: number;
  readonly waiting: number;
}

interface Realm {
  usage: Usage;
  people: Map<number, Usage>;
  /** Requests that recently began. */
  begun: Decaying;
  /** Since when requests of the realm wait without a break, if any waits. */
  waitingSince: number;
  /** When one was last refused. */
  refusedAt: number;
}

const tickMs = 100;
const maxWaiting = 10_000;
const [minLimit, maxLimit] = [16, 1_024];
/** Lag above which too many requests are in flight. */
const overloadLagMs = 40;
/**
 * If half of the requests take longer, too many are in flight, unless there are no more than this number, or they take
 * as long with this number.
 */
const [slowMs, minSlowLimit] = [200, 64];
/** Slowness is judged by at least this many requests. The judgement counts for a while, because answers may come in batches. */
const [judgedBy, judgedForMs] = [32, 2_000];
/** A realm may have as many requests waiting as begin within this time at the present rate, and a few in any case. */
const [maxWaitMs, minWaiting] = [400, 64];
/** As many may wait if none waited before this time: many clients may send at once. */
const [burst, burstMs] = [256, 1_000];
const rateHalfLifeMs = 1_000;
const crowdingMs = 2_000;

/** `lag`: how long messages wait in the event loops of the system. */
export function createFairShare(lag: () => Lag, now: () => number = () => performance.now()): FairShare {
  const realms = new Map<number, Realm>();
  const [overload, slowness] = [new Threshold(overloadLagMs), new Threshold(slowMs)];
  /** Of people who used less than half of what others of their realm did, and of all others. */
  const [ahead, behind] = [new WaitingTasks(maxWaiting), new WaitingTasks(maxWaiting)];
  let limit = maxLimit;
  let inFlight = 0;
  /** Milliseconds in flight of the requests that ended since slowness was judged. */
  let took: number[] = [];
  let slow = { is: false, at: now() };
  let timer: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const realm = realmOf(tenant.realmId);
      const usage = usageOf(realm, tenant.userId);
      await admitted(realm, tenant, usage);
      const begunAt = now();
      try {
        return await work();
      } finally {
        inFlight--;
        took.push(now() - begunAt);
        realm.usage.end();
        usage.end();
        startNext();
      }
    },
    refuses(tenant, others) {
      const realm = realms.get(tenant.realmId);
      if (!realm || placeOf(realm, tenant, others)) return false;
      realm.refusedAt = now();
      return true;
    },
    crowding() {
      const crowding = [...realms].filter(([id, { refusedAt }]) => id >= 0 && now() - refusedAt < crowdingMs);
      return new Set(crowding.map(([id]) => id));
    },
    get inFlight() {
      return inFlight;
    },
    get waiting() {
      return ahead.size + behind.size;
    },
  };

  function waitingOf(realmId: number): number {
    return ahead.sizeOf(realmId) + behind.sizeOf(realmId);
  }

  function realmOf(id: number): Realm {
    const known = realms.get(id);
    if (known) return known;
    const realm: Realm = {
      usage: new Usage(now),
      people: new Map(),
      begun: new Decaying(now, rateHalfLifeMs),
      waitingSince: 0,
      refusedAt: Number.NEGATIVE_INFINITY,
    };
    realms.set(id, realm);
    timer ??= setInterval(adjust, tickMs).unref();
    return realm;
  }

  function usageOf(realm: Realm, userId: number): Usage {
    const usage = realm.people.get(userId) ?? new Usage(now);
    realm.people.set(userId, usage);
    return usage;
  }

  /** Where a request has to wait, after so many others of the realm; undefined if it is refused. */
  function placeOf(realm: Realm, tenant: Tenant, others: number): 'none' | 'ahead' | 'behind' | undefined {
    const { realmId, userId } = tenant;
    const isFirst = waitingOf(realmId) === 0;
    if (isFirst && inFlight + others < limit) return 'none';
    const most = maxWaitingOf(realm, isFirst);
    const ownMs = realm.people.get(userId)?.ms ?? 0;
    if (ownMs * realm.people.size < realm.usage.ms / 2 && ahead.sizeOf(realmId) + others < most) return 'ahead';
    return behind.sizeOf(realmId) + others < most ? 'behind' : undefined;
  }

  async function admitted(realm: Realm, tenant: Tenant, usage: Usage): Promise<void> {
    const place = placeOf(realm, tenant, 0);
    if (!place) {
      realm.refusedAt = now();
      throw overloaded('the realm sends more than is answered');
    }
    const start = (): void => begin(realm, usage);
    if (place === 'none') return start();
    if (waitingOf(tenant.realmId) === 0) realm.waitingSince = now();
    await (place === 'ahead' ? ahead : behind).wait(tenant, start);
  }

  function begin(realm: Realm, usage: Usage): void {
    inFlight++;
    realm.usage.begin();
    realm.begun.add(1);
    usage.begin();
  }

  function maxWaitingOf({ begun, waitingSince }: Realm, isFirst: boolean): number {
    const perMs = (begun.sum * Math.LN2) / rateHalfLifeMs;
    const isBurst = isFirst || now() - waitingSince < burstMs;
    return Math.max(isBurst ? burst : minWaiting, perMs * maxWaitMs);
  }

  function startNext(): void {
    while (inFlight < limit) {
      const next = leastUsed();
      if (next === undefined) return;
      const isNext = (realmId: number): boolean => realmId === next;
      if (!ahead.startNext(isNext)) behind.startNext(isNext);
    }
  }

  /** The realm that used least, of those with a request that waits. */
  function leastUsed(): number | undefined {
    if (ahead.size + behind.size === 0) return undefined;
    let found: { id: number; ms: number } | undefined;
    for (const [id, { usage }] of realms)
      if (waitingOf(id) > 0 && (!found || usage.ms < found.ms)) found = { id, ms: usage.ms };
    return found?.id;
  }

  function judgeSlowness(): void {
    if (took.length >= judgedBy)
      slow = { is: slowness.isExceeded(medianOf(took), inFlight <= minSlowLimit, now()), at: now() };
    else if (now() - slow.at > judgedForMs) slow = { is: false, at: now() };
    else return;
    took = [];
  }

  function lower(lowest: number): void {
    if (limit > lowest) limit = Math.max(lowest, Math.min(limit, inFlight) * 0.85);
  }

  /** Lowers the limit of requests in flight while the system lags or is slow, and raises it again otherwise. */
  function adjust(): void {
    judgeSlowness();
    if (overload.isExceeded(lag().ms, limit <= minLimit, now())) lower(minLimit);
    else if (slow.is && inFlight > minSlowLimit) lower(minSlowLimit);
    else {
      const highest = slow.is ? Math.max(limit, minSlowLimit) : maxLimit;
      limit = Math.min(highest, limit * 1.1 + 1);
    }
    startNext();
    forget();
  }

  function forget(): void {
    for (const [id, realm] of realms) {
      const isWaiting = waitingOf(id) > 0;
      if (!isWaiting)
        for (const [userId, usage] of realm.people)
          if (usage.ms < 1 && usage.inFlight === 0) realm.people.delete(userId);
      if (realm.people.size === 0 && realm.usage.inFlight === 0 && !isWaiting) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    limit = maxLimit;
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
