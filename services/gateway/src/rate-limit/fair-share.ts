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
  readonly inFlight: number;
  readonly waiting: number;
}

interface Realm {
  usage: Usage;
  people: Map<number, Usage>;
  /** Requests that recently began. */
  begun: Decaying;
  /** Since when every request has waited long, except those of people who used little. */
  standingSince: number | undefined;
}

const tickMs = 100;
const maxWaiting = 10_000;
const [minLimit, maxLimit] = [16, 1_024];
/** Lag above which too many requests are in flight. */
const overloadLagMs = 40;
/**
 * If requests have waited longer than this for some time, new ones are refused, because a standing queue only adds
 * delay.
 */
const [standingWaitMs, standingForMs] = [500, 2_000];
/** A realm may have as many requests waiting as begin within `maxWaitMs` at the present rate, and a burst in any case. */
const [maxWaitMs, burst] = [800, 256];
const rateHalfLifeMs = 1_000;

/** `lag`: how long messages wait in the event loops of the system. */
export function createFairShare(lag: () => Lag, now: () => number = () => performance.now()): FairShare {
  const realms = new Map<number, Realm>();
  const overload = new Threshold(overloadLagMs);
  /** Of people who used less than half of what others of their realm did, and of all others. */
  const [ahead, behind] = [new WaitingTasks(maxWaiting), new WaitingTasks(maxWaiting)];
  let limit = maxLimit;
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const realm = realmOf(tenant.realmId);
      const usage = usageOf(realm, tenant.userId);
      await admitted(realm, tenant, usage);
      try {
        return await work();
      } finally {
        inFlight--;
        realm.usage.end();
        usage.end();
        startNext();
      }
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
      standingSince: undefined,
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

  async function admitted(realm: Realm, tenant: Tenant, usage: Usage): Promise<void> {
    if (waitingOf(tenant.realmId) === 0 && inFlight < limit) {
      begin(realm, usage);
      noteWait(realm, 0);
      return;
    }
    if (usage.ms * realm.people.size < realm.usage.ms / 2) return ahead.wait(tenant, () => begin(realm, usage));
    if (isStanding(realm)) throw overloaded('the realm waits all the time');
    if (behind.sizeOf(tenant.realmId) >= maxWaitingOf(realm)) throw overloaded('the realm sends more than is answered');
    const since = now();
    await behind.wait(tenant, () => {
      begin(realm, usage);
      noteWait(realm, now() - since);
    });
  }

  function begin(realm: Realm, usage: Usage): void {
    inFlight++;
    realm.usage.begin();
    realm.begun.add(1);
    usage.begin();
  }

  function noteWait(realm: Realm, waitedMs: number): void {
    if (waitedMs < standingWaitMs) realm.standingSince = undefined;
    else realm.standingSince ??= now();
  }

  function maxWaitingOf({ begun }: Realm): number {
    const perMs = (begun.sum * Math.LN2) / rateHalfLifeMs;
    return Math.max(burst, perMs * maxWaitMs);
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

  function isStanding({ standingSince }: Realm): boolean {
    return standingSince !== undefined && now() - standingSince > standingForMs;
  }

  /** Lowers the limit of requests in flight while the system lags, and raises it again otherwise. */
  function adjust(): void {
    if (overload.isExceeded(lag().ms, limit <= minLimit, now()))
      limit = Math.max(minLimit, Math.min(limit, inFlight) * 0.85);
    else if (ahead.size + behind.size > 0 || inFlight > limit / 2) limit = Math.min(maxLimit, limit * 1.1 + 1);
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
  }
}
