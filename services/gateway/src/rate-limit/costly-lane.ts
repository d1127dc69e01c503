import { type Lag, measureCpu, WaitingTasks } from '@natter/service-kit';
import { add, type SharedUsage, type Usages } from './shared-usage.ts';
import type { Tenant } from './tenant.ts';
import { Decaying, Threshold } from './usage.ts';

/**
 * Holds back users whose requests are expensive, while these delay other realms. A request is classified by the CPU
 * time that it took, not by its kind, because an attacker chooses the parameters. Users with cheap requests are not
 * held back, however many they send.
 */
export interface CostlyLane {
  /**
   * Rejects with SERVICE_UNAVAILABLE if `work` cannot start within its deadline, or if too many requests wait already.
   */
  run<R>(tenant: Tenant, work: () => Promise<R>): Promise<R>;
  /** Number of waiting requests. */
  readonly waiting: number;
}

interface Person {
  /** Recent CPU milliseconds beyond those that any request may take. */
  cost: Decaying;
  requests: Decaying;
  seenAt: number;
}

/** A request of a held user in flight. */
interface Held {
  /** Number of cheap answers that count when this request is answered, because all older ones have been by then. */
  credit: number;
}

interface Realm {
  /** Like that of a user, summed over all users. */
  cost: Decaying;
  /** Maximum number of requests in flight from held users. Below 1: the fraction of time in which one may run. */
  cap: number;
  /** Oldest first. */
  held: Held[];
  /** When the next request may start, if the cap is below 1. */
  pausedUntil: number;
  /** With a recent request. */
  people: Map<number, Person>;
  /** Networks without an account, which do not make a realm larger. */
  strangers: Map<number, Person>;
}

interface Shares {
  /** Realms that cost more than an equal share. */
  heavy: Usages;
  /** At least one realm costs clearly less than an equal share. */
  hasLight: boolean;
  /** More than one realm is active. */
  isShared: boolean;
}

export interface CostlyLaneOptions {
  /** How long messages wait in the event loops of the system. */
  lag: () => Lag;
  shared: SharedUsage;
  /** Lag caused by long turns above which expensive requests delay others. */
  quietLagMs: number;
  now?: () => number;
}

const tickMs = 100;
/** The gateway publishes the costs of its realms at every third tick. */
const tellEvery = 3;
const forgetEvery = 50;
const maxWaiting = 10_000;
/** CPU milliseconds that any request may take without being expensive. */
const cheapMs = 10;
/** The lane does not hold people or realms whose mean cost beyond `cheapMs` is lower. */
const cheapMeanMs = 1;
/** The lane does not hold people with a lower cost. */
const personCostMs = 20;
/**
 * The cap of a realm that costs less than the first is not lowered from 1 or more, and rises with cheap answers.
 * That of a realm that costs less than the second is not lowered below 1.
 */
const [lowCostMs, highCostMs] = [400, 2_000];
const [personHalfLifeMs, realmHalfLifeMs] = [20_000, 5_000];
const forgetAfterMs = 60_000;
const [minCap, maxCap] = [0.05, 1_024];
/** The initial cap of an unknown realm. It is low because requests in progress cannot be stopped. */
const startCap = 2;
/** The minimum fraction of time per user of a realm, so that a large realm keeps more than a small one. */
const capOfPerson = 0.001;
const maxPauseMs = 5_000;

export function createCostlyLane(options: CostlyLaneOptions): CostlyLane {
  const { lag, shared, quietLagMs, now = () => performance.now() } = options;
  const realms = new Map<number, Realm>();
  const disturbance = new Threshold(quietLagMs);
  const waiting = new WaitingTasks(maxWaiting);
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let wakeUp: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const realm = realmOf(tenant.realmId);
      const person = personOf(realm, tenant.userId);
      const held = isCostly(person) ? await admitted(realm, tenant) : undefined;
      return await measureCpu(async (spentMs) => {
        try {
          return await work();
        } finally {
          const costMs = spentMs();
          person.requests.add(1);
          for (const { cost } of [person, realm]) cost.add(Math.max(0, costMs - cheapMs));
          if (held) end(realm, held, costMs);
        }
      });
    },
    get waiting() {
      return waiting.size;
    },
  };

  function realmOf(id: number): Realm {
    const known = realms.get(id);
    if (known) return known;
    const realm: Realm = {
      cost: new Decaying(now, realmHalfLifeMs),
      cap: startCap,
      held: [],
      pausedUntil: 0,
      people: new Map(),
      strangers: new Map(),
    };
    realms.set(id, realm);
    timer ??= setInterval(adjust, tickMs).unref();
    return realm;
  }

  function personOf({ people, strangers }: Realm, userId: number): Person {
    const among = userId < 0 ? strangers : people;
    const person = among.get(userId) ?? {
      cost: new Decaying(now, personHalfLifeMs),
      requests: new Decaying(now, personHalfLifeMs),
      seenAt: 0,
    };
    person.seenAt = now();
    among.set(userId, person);
    return person;
  }

  async function admitted(realm: Realm, tenant: Tenant): Promise<Held> {
    const held: Held = { credit: 0 };
    const begin = (): void => void realm.held.push(held);
    if (waiting.sizeOf(tenant.realmId) === 0 && mayStart(realm)) begin();
    else {
      const turn = waiting.wait(tenant, begin);
      startWaiting();
      await turn;
    }
    return held;
  }

  function end(realm: Realm, held: Held, costMs: number): void {
    creditOlder(realm, held, costMs);
    if (realm.cap < 1) realm.pausedUntil = now() + Math.min(costMs * (1 / realm.cap - 1), maxPauseMs);
    startWaiting();
  }

  /**
   * A cheap answer raises the cap when all older requests are answered. Expensive requests take long, so cheap ones that
   * overtake them would raise the cap before any cost is known. An expensive answer cancels cheap ones up to its cost.
   */
  function creditOlder(realm: Realm, ended: Held, costMs: number): void {
    const credit = Math.max(0, ended.credit + (costMs <= cheapMs ? 1 : -costMs / cheapMs));
    const at = realm.held.indexOf(ended);
    realm.held.splice(at, 1);
    const older = realm.held[at - 1];
    if (older) older.credit += credit;
    else if (realm.cap >= startCap && realm.cost.sum < lowCostMs) realm.cap = Math.min(maxCap, realm.cap + credit);
  }

  function mayStart({ held, cap, pausedUntil }: Realm): boolean {
    return held.length < cap && pausedUntil <= now();
  }

  function startWaiting(): void {
    const mayHaveTurn = (id: number): boolean => {
      const realm = realms.get(id);
      return realm !== undefined && mayStart(realm);
    };
    while (waiting.startNext(mayHaveTurn));
    wakeAfterPauses();
  }

  /** Schedules the end of pauses that end before the next tick. */
  function wakeAfterPauses(): void {
    if (waiting.size === 0) return;
    let nextMs = tickMs;
    for (const [id, { pausedUntil }] of realms)
      if (pausedUntil > now() && waiting.sizeOf(id) > 0) nextMs = Math.min(nextMs, pausedUntil - now());
    clearTimeout(wakeUp);
    if (nextMs < tickMs) wakeUp = setTimeout(startWaiting, Math.ceil(nextMs));
  }

  function adjust(): void {
    const { longMs } = lag();
    const here = new Map(
      [...realms].map(([id, realm]) => [id, { ms: realm.cost.sum, isAtFloor: realm.cap <= floorOf(realm) }]),
    );
    if (ticks++ % tellEvery === 0) shared.tell(here);
    const shares = sharesOf(here, shared.ofOthers());
    const isAtFloor = shares.heavy.size > 0 && [...shares.heavy.values()].every((usage) => usage.isAtFloor);
    const isDisturbed = disturbance.isExceeded(longMs, isAtFloor, now()) && shares.hasLight;
    for (const [id, realm] of realms) {
      const costMs = shares.heavy.get(id)?.ms ?? 0;
      if (isDisturbed && costMs > (realm.cap < 1 ? 0 : lowCostMs))
        lower(realm, realm.cap < 1 || costMs > highCostMs ? floorOf(realm) : 1);
      else if (!isDisturbed && !shares.isShared) realm.cap = maxCap;
      else if (!isDisturbed) raise(realm, waiting.sizeOf(id) > 0);
    }
    startWaiting();
    if (ticks % forgetEvery === 0) forget();
  }

  function lower(realm: Realm, least: number): void {
    realm.cap = Math.max(least, Math.min(realm.cap, Math.max(realm.held.length, 1)) * 0.5);
  }

  /** In steps, also if the lag has another cause: all waiting requests at once would delay other realms for seconds. */
  function raise(realm: Realm, isWaiting: boolean): void {
    // Slowly below 1, where the capacity for expensive requests is uncertain.
    if (realm.cap < startCap) realm.cap = Math.min(startCap, realm.cap * (realm.cap < 1 ? 1.05 : 1.25));
    // No realm is delayed, so requests need not wait for cheap answers that raise the cap.
    else if (isWaiting) realm.cap = Math.min(maxCap, realm.cap * 1.1);
  }

  function forget(): void {
    for (const [id, realm] of realms) {
      const { people, strangers } = realm;
      for (const some of [people, strangers])
        for (const [userId, { seenAt, cost }] of some)
          if (now() - seenAt > forgetAfterMs && cost.sum < personCostMs) some.delete(userId);
      if (people.size + strangers.size === 0 && realm.held.length === 0 && waiting.sizeOf(id) === 0) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

/** Unknown users count as costly too. */
function isCostly({ cost, requests }: Person): boolean {
  return requests.sum < 0.1 || (cost.sum >= personCostMs && cost.sum > requests.sum * cheapMeanMs);
}

function floorOf({ people }: Realm): number {
  return Math.min(1, Math.max(minCap, people.size * capOfPerson));
}

/** Over realms that were recently served here or by other gateways. */
function sharesOf(here: Usages, elsewhere: Usages): Shares {
  const sum = new Map(here);
  for (const [id, usage] of elsewhere) add(sum, id, usage);
  const all = [...sum];
  const equal = all.reduce((total, [, { ms }]) => total + ms, 0) / all.length;
  return {
    heavy: new Map(all.filter(([, { ms }]) => ms > equal)),
    hasLight: all.some(([, { ms }]) => ms < equal * 0.8),
    isShared: all.length > 1,
  };
}
