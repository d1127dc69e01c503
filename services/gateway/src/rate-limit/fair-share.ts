import { Decaying, type Lag, overloaded, WaitingTasks } from '@natter/service-kit';
import { InFlightLimit } from './in-flight-limit.ts';
import type { Tenant } from './tenant.ts';
import { Usage } from './usage.ts';

/**
 * Decides when a request may proceed to the services: at once while `InFlightLimit` has room. Otherwise requests wait,
 * and the realm that recently used the services least is served first. Its users take turns.
 */
export interface FairShare {
  /**
   * Rejects with SERVICE_UNAVAILABLE if `work` cannot start within its deadline, and at once if too many requests wait
   * already. A user who used far less than others of the realm is not refused because of them.
   */
  run<R>(tenant: Tenant, work: () => Promise<R>): Promise<R>;
  /**
   * Whether `run` would refuse a request of the tenant, because too many requests wait, if these requests came before it. If so,
   * the request counts as refused.
   */
  refuses(tenant: Tenant, coming: Coming): boolean;
  /** Realms of which a request was refused lately, except that of requests without an account. */
  crowding(): ReadonlySet<number>;
  readonly inFlight: number;
  readonly waiting: number;
}

/** Numbers of requests that have not yet reached the fair share. */
export interface Coming {
  /** Number of requests of the realm. */
  all: number;
  /** Number of requests of the user. */
  own: number;
}

interface Realm {
  usage: Usage;
  people: Map<number, Usage>;
  /** How many requests of the realm began lately. */
  begun: Decaying;
  /** Since when at least one request of the realm has been waiting, if any waits. */
  waitingSince: number;
  /** Time of the last refused request of the realm. */
  refusedAt: number;
}

const none: Coming = { all: 0, own: 0 };
const tickMs = 100;
const maxWaiting = 10_000;
/** Limits the waiting requests of a realm to the number that begin in this time at the present rate. */
const maxWaitMs = 250;
/** This many requests of a realm may always wait. */
const minWaiting = 64;
/**
 * Many clients may send at once. So `most` requests may wait during the first `ms` in which requests of the realm wait,
 * unless one was refused lately: otherwise a constant overload would fill the queue again whenever it becomes empty.
 */
const bursts = [
  { most: 768, ms: 100 },
  { most: 384, ms: 1_000 },
] as const;
const rateHalfLifeMs = 1_000;
/** `crowding` contains a realm for this long after a refusal, and no burst of it may wait. */
const crowdingMs = 2_000;

/** `lag`: how long messages wait in the event loops of the system. */
export function createFairShare(lag: () => Lag, now: () => number = () => performance.now()): FairShare {
  const realms = new Map<number, Realm>();
  const limit = new InFlightLimit(lag, now);
  /** Requests of users whose usage is below half of the mean of their realm. They start before those in `behind`. */
  const ahead = new WaitingTasks(maxWaiting);
  const behind = new WaitingTasks(maxWaiting);
  let timer: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const end = await admitted(tenant);
      try {
        return await work();
      } finally {
        end();
      }
    },
    refuses(tenant, coming) {
      const realm = realms.get(tenant.realmId);
      if (!realm || placeOf(realm, tenant, coming)) return false;
      realm.refusedAt = now();
      return true;
    },
    crowding() {
      const crowding = [...realms].filter(([id, { refusedAt }]) => id >= 0 && now() - refusedAt < crowdingMs);
      return new Set(crowding.map(([id]) => id));
    },
    get inFlight() {
      return limit.inFlight;
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

  /**
   * The queue in which a request has to wait after those that come before it; undefined if it is refused. A user with little
   * usage is not refused because of requests of others.
   */
  function placeOf(realm: Realm, tenant: Tenant, { all, own }: Coming): 'none' | 'ahead' | 'behind' | undefined {
    const { realmId, userId } = tenant;
    const isFirst = waitingOf(realmId) === 0;
    if (isFirst && limit.hasRoom(all)) return 'none';
    if (own === 0 && hasShare(tenant)) return 'none';
    const most = maxWaitingOf(realm, isFirst);
    const ownMs = realm.people.get(userId)?.ms ?? 0;
    if (ownMs * realm.people.size < realm.usage.ms / 2 && ahead.sizeOf(realmId) + own < most) return 'ahead';
    return behind.sizeOf(realmId) + all < most ? 'behind' : undefined;
  }

  /** Resolves when the request may begin. The result is a function to call at the end of the request. */
  async function admitted(tenant: Tenant): Promise<() => void> {
    const realm = realmOf(tenant.realmId);
    const usage = usageOf(realm, tenant.userId);
    const place = placeOf(realm, tenant, none);
    if (!place) {
      realm.refusedAt = now();
      throw overloaded('the realm sends more than is answered');
    }
    if (place === 'none') return begin(realm, tenant, usage);
    if (waitingOf(tenant.realmId) === 0) realm.waitingSince = now();
    let end = (): void => {};
    await (place === 'ahead' ? ahead : behind).wait(tenant, () => {
      end = begin(realm, tenant, usage);
    });
    return end;
  }

  function begin(realm: Realm, tenant: Tenant, usage: Usage): () => void {
    const end = limit.begin(tenant);
    realm.usage.begin();
    realm.begun.add(1);
    usage.begin();
    return () => {
      end();
      realm.usage.end();
      usage.end();
      startNext();
      startWithin(tenant.realmId);
    };
  }

  function maxWaitingOf({ begun, waitingSince, refusedAt }: Realm, isFirst: boolean): number {
    const burst = isFirst ? bursts[0] : bursts.find(({ ms }) => now() - waitingSince < ms);
    const isRefusing = now() - refusedAt < crowdingMs;
    return Math.max(isRefusing ? 0 : (burst?.most ?? 0), minWaiting, begun.perMs * maxWaitMs);
  }

  function startNext(): void {
    while (limit.hasRoom()) {
      const next = leastUsed();
      if (next === undefined) return;
      const isNext = (realmId: number): boolean => realmId === next;
      if (!ahead.startNext(isNext)) behind.startNext(isNext);
    }
  }

  /** Whether a request of the tenant may start although the limit is reached. */
  function hasShare(tenant: Tenant): boolean {
    if (waitingOf(tenant.realmId) === 0 && limit.hasRealmRoom(tenant.realmId)) return true;
    return ahead.sizesOf(tenant).own + behind.sizesOf(tenant).own === 0 && limit.hasUserRoom(tenant);
  }

  /** Starts waiting requests of a realm within its share, and those of its users within theirs. */
  function startWithin(realmId: number): void {
    if (waitingOf(realmId) === 0) return;
    const isRealm = (id: number): boolean => id === realmId;
    const hasRoom = (userId: number): boolean => limit.hasUserRoom({ realmId, userId });
    while (limit.hasRealmRoom(realmId)) if (!ahead.startNext(isRealm) && !behind.startNext(isRealm)) return;
    while (ahead.startNext(isRealm, hasRoom) || behind.startNext(isRealm, hasRoom));
  }

  /** The realm with the lowest usage of those with waiting requests. */
  function leastUsed(): number | undefined {
    if (ahead.size + behind.size === 0) return undefined;
    let found: { id: number; ms: number } | undefined;
    for (const [id, { usage }] of realms)
      if (waitingOf(id) > 0 && (!found || usage.ms < found.ms)) found = { id, ms: usage.ms };
    return found?.id;
  }

  function adjust(): void {
    limit.adjust();
    startNext();
    for (const realmId of realms.keys()) startWithin(realmId);
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
    limit.reset();
  }
}
