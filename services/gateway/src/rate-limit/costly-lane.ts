import { currentDeadline, type Lag, measureCost, WaitingTasks } from '@natter/service-kit';
import { leastCapOf } from './least-cap.ts';
import { type SharedUsage, sharesOf } from './shared-usage.ts';
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
  /** Number of completed requests since the lane knows the user. */
  answers: number;
  seenAt: number;
}

/**
 * Held users: those whose requests were expensive, and newcomers, of whom too few requests were answered. Each kind
 * waits in its own queue, so that newcomers with cheap requests do not wait for expensive requests.
 */
const kinds = ['newcomer', 'costly'] as const;
type Kind = (typeof kinds)[number];

/** A request of a held user in flight. */
interface Held {
  kind: Kind;
  /** Number of cheap answers that count when this request is answered, because all older ones have been by then. */
  credit: number;
}

interface Realm {
  /** Like that of a user, summed over all users. */
  cost: Decaying;
  /** Recent CPU milliseconds of all requests. */
  total: Decaying;
  /**
   * Maximum number of requests in flight from held users. Below 1: the fraction of time in which one request of each
   * kind may run.
   */
  cap: number;
  /** Oldest first. */
  held: Held[];
  /** When the next request of a kind may start, if the cap is below 1. */
  pausedUntil: Record<Kind, number>;
  /** When its last request began. */
  seenAt: number;
  people: Map<number, Person>;
  /** Networks without an account, which do not make a realm larger. */
  strangers: Map<number, Person>;
}

export interface CostlyLaneOptions {
  /** How long messages wait in the event loops of the system. */
  lag: () => Lag;
  shared: SharedUsage;
  /** Realms that delay others by the number of their requests. */
  crowding: () => ReadonlySet<number>;
  /** Lag caused by long turns above which expensive requests delay others. */
  quietLagMs: number;
  now?: () => number;
}

const tickMs = 100;
/** The gateway publishes the costs of its realms at every third tick. */
const publishEvery = 3;
const forgetEvery = 50;
const maxWaiting = 10_000;
/** CPU milliseconds that any request may take without being expensive. */
const cheapMs = 10;
/** Mean cost beyond `cheapMs` above which people are held. Cheap requests cost more than `cheapMs` now and then. */
const cheapMeanMs = 4;
/** The lane holds only newcomers and people with a higher cost. */
const personCostMs = 20;
/** The cap of a realm that costs less is not lowered from 1 or more, and rises with cheap answers. */
const lowCostMs = 400;
/** The service of a request that was cancelled reports no cost. Such a request costs its time in flight, up to this. */
const maxCancelledCostMs = 100;
const [personHalfLifeMs, realmHalfLifeMs] = [120_000, 5_000];
/** A realm without a request for this long is not counted, and begins again like an unknown one. */
const activeMs = 60_000;
/** Number of answers after which a user with cheap requests is no longer a newcomer. */
const trustedAfter = 8;
/** Newcomers have to be trusted again after they were forgotten. */
const [forgetPersonMs, forgetStrangerMs] = [600_000, 60_000];
const maxCap = 1_024;
/** The minimum fraction of time in which a newcomer's request may run. */
const newcomerCap = 0.15;
/** The initial cap of an unknown realm. It is low because requests in progress cannot be stopped. */
const startCap = 2;
const maxPauseMs = 5_000;

export function createCostlyLane(options: CostlyLaneOptions): CostlyLane {
  const { lag, shared, crowding, quietLagMs, now = () => performance.now() } = options;
  const realms = new Map<number, Realm>();
  const disturbance = new Threshold(quietLagMs);
  const waiting = { newcomer: new WaitingTasks(maxWaiting), costly: new WaitingTasks(maxWaiting) };
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const realm = realmOf(tenant.realmId);
      if (tenant.hostRealmId !== undefined) realmOf(tenant.hostRealmId);
      const person = personOf(realm, tenant.userId);
      const kind = kindOf(person);
      const held = kind && (await admitted(realm, tenant, kind));
      const [deadline, begun] = [currentDeadline(), now()];
      return await measureCost(async (spentMs) => {
        try {
          return await work();
        } finally {
          const isCancelled = deadline?.hasEnded ?? false;
          const costMs = Math.max(spentMs(), isCancelled ? Math.min(now() - begun, maxCancelledCostMs) : 0);
          person.requests.add(1);
          if (!isCancelled) person.answers++;
          for (const { cost } of [person, realm]) cost.add(Math.max(0, costMs - cheapMs));
          realm.total.add(costMs);
          if (held) end(tenant.realmId, realm, held, costMs);
        }
      });
    },
    get waiting() {
      return waiting.newcomer.size + waiting.costly.size;
    },
  };

  function realmOf(id: number): Realm {
    const known = realms.get(id);
    if (known) {
      known.seenAt = now();
      return known;
    }
    const realm: Realm = {
      cost: new Decaying(now, realmHalfLifeMs),
      total: new Decaying(now, realmHalfLifeMs),
      cap: startCap,
      held: [],
      pausedUntil: { newcomer: 0, costly: 0 },
      seenAt: now(),
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
      answers: 0,
      seenAt: 0,
    };
    person.seenAt = now();
    among.set(userId, person);
    return person;
  }

  async function admitted(realm: Realm, tenant: Tenant, kind: Kind): Promise<Held> {
    const held: Held = { kind, credit: 0 };
    const begin = (): void => void realm.held.push(held);
    if (waiting[kind].sizeOf(tenant.realmId) === 0 && mayStart(realm, kind)) begin();
    else {
      const turn = waiting[kind].wait(tenant, begin);
      startWaiting();
      await turn;
    }
    return held;
  }

  function end(realmId: number, realm: Realm, held: Held, costMs: number): void {
    creditOlder(realm, held, costMs);
    if (realm.cap < 1) {
      const pauseMs = Math.min(costMs * (1 / shareOf(realm, held.kind) - 1), maxPauseMs);
      realm.pausedUntil[held.kind] = now() + pauseMs;
      // Longer pauses end at a tick.
      if (pauseMs < tickMs && waiting[held.kind].sizeOf(realmId) > 0)
        setTimeout(startWaiting, Math.ceil(pauseMs)).unref();
    }
    startWaiting();
  }

  /**
   * A cheap answer raises the cap when all older requests are answered. Expensive requests take long, so cheap ones that
   * overtake them would raise the cap before any cost is known. An expensive answer cancels cheap ones up to its cost,
   * and lowers the cap by it if the user is a newcomer: others may follow.
   */
  function creditOlder(realm: Realm, ended: Held, costMs: number): void {
    const credit = Math.max(0, ended.credit + (costMs <= cheapMs ? 1 : -costMs / cheapMs));
    const at = realm.held.indexOf(ended);
    realm.held.splice(at, 1);
    if (ended.kind === 'newcomer' && costMs - cheapMs >= personCostMs && realm.cap > startCap)
      realm.cap = Math.max(startCap, realm.cap - costMs / cheapMs);
    const older = realm.held[at - 1];
    if (older) older.credit += credit;
    else if (realm.cap >= startCap && realm.cost.sum < lowCostMs) realm.cap = Math.min(maxCap, realm.cap + credit);
  }

  function mayStart({ held, cap, pausedUntil }: Realm, kind: Kind): boolean {
    if (cap >= 1) return held.length < cap;
    return pausedUntil[kind] <= now() && held.every((other) => other.kind !== kind);
  }

  function startWaiting(): void {
    for (const kind of kinds) {
      const mayHaveTurn = (id: number): boolean => {
        const realm = realms.get(id);
        return realm !== undefined && mayStart(realm, kind);
      };
      while (waiting[kind].startNext(mayHaveTurn));
    }
  }

  function isWaiting(id: number): boolean {
    return kinds.some((kind) => waiting[kind].sizeOf(id) > 0);
  }

  function adjust(): void {
    const { longMs } = lag();
    const active = [...realms].filter(([, { seenAt, held }]) => held.length > 0 || now() - seenAt < activeMs);
    const here = new Map(
      active.map(([id, realm]) => [
        id,
        {
          ms: realm.cost.sum,
          totalMs: realm.total.sum,
          isAtFloor: realm.cap <= leastCapOf(realm),
        },
      ]),
    );
    if (ticks++ % publishEvery === 0) shared.publish(here);
    const shares = sharesOf(here, shared.ofOthers(), crowding());
    const isAtFloor = shares.heavy.size > 0 && [...shares.heavy.values()].every((usage) => usage.isAtFloor);
    const isDisturbed = disturbance.isExceeded(longMs, isAtFloor, now()) && shares.hasLight;
    for (const [id, realm] of realms) {
      const costMs = shares.heavy.get(id)?.ms ?? 0;
      if (!here.has(id)) realm.cap = Math.min(realm.cap, startCap);
      else if (isDisturbed && costMs > (realm.cap < 1 ? 0 : lowCostMs)) lower(realm, leastCapOf(realm));
      else if (!isDisturbed && !shares.hasOtherThan(id)) realm.cap = maxCap;
      else if (!isDisturbed && (realm.cap >= 1 || disturbance.isCalm)) raise(realm, isWaiting(id));
    }
    startWaiting();
    if (ticks % forgetEvery === 0) forget();
  }

  function lower(realm: Realm, least: number): void {
    realm.cap = Math.max(least, Math.min(realm.cap, Math.max(realm.held.length, 1)) * 0.5);
  }

  /** In steps, also if the lag has another cause: all waiting requests at once would delay other realms for seconds. */
  function raise(realm: Realm, hasWaiting: boolean): void {
    // Slowly below 1, where the capacity for expensive requests is uncertain, and more slowly without such requests.
    const isIdle = realm.held.length === 0 && !hasWaiting;
    const factor = isIdle ? 1.005 : realm.cap < 1 ? 1.05 : 1.25;
    if (realm.cap < startCap) realm.cap = Math.min(startCap, realm.cap * factor);
    // No realm is delayed, so requests need not wait for cheap answers that raise the cap.
    else if (hasWaiting) realm.cap = Math.min(maxCap, realm.cap * 1.1);
  }

  function forgetUnseen(some: Map<number, Person>, afterMs: number): void {
    for (const [userId, { seenAt, cost }] of some)
      if (now() - seenAt > afterMs && cost.sum < personCostMs) some.delete(userId);
  }

  function forget(): void {
    for (const [id, { people, strangers, held, seenAt }] of realms) {
      forgetUnseen(people, forgetPersonMs);
      forgetUnseen(strangers, forgetStrangerMs);
      const isUsed = people.size + strangers.size + held.length > 0 || isWaiting(id);
      if (!isUsed && now() - seenAt > activeMs) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

/** Undefined: requests of the user are not held. */
function kindOf({ cost, requests, answers }: Person): Kind | undefined {
  if (cost.sum >= personCostMs && cost.sum > requests.sum * cheapMeanMs) return 'costly';
  return answers < trustedAfter ? 'newcomer' : undefined;
}

/** The fraction of time in which a request of this kind may run, if the cap is below 1. */
const shareOf = ({ cap }: Realm, kind: Kind): number => (kind === 'newcomer' ? Math.max(cap, newcomerCap) : cap);
