import { type Lag, measureCpu, WaitingTasks } from '@natter/service-kit';
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
  /** Since the lane knows the user. */
  answers: number;
  seenAt: number;
}

/**
 * Users with cheap requests, newcomers, of whom too few requests were answered, and users with expensive requests.
 * Each kind waits for itself.
 */
const kinds = ['cheap', 'newcomer', 'costly'] as const;
type Kind = (typeof kinds)[number];

/** A request in flight of a newcomer or of a user with expensive requests. */
interface Held {
  kind: Kind;
  /** Number of cheap answers that count when this request is answered, because all older ones have been by then. */
  credit: number;
}

interface Realm {
  /** Like that of a user, summed over all users. */
  cost: Decaying;
  /**
   * Maximum number of requests in flight from newcomers and users with expensive requests. Below 1: the fraction of
   * time in which one may run.
   */
  cap: number;
  /** Oldest first. */
  held: Held[];
  inFlight: Record<Kind, number>;
  /** When the next request of a kind may start, if the cap is below 1. */
  pausedUntil: Record<Kind, number>;
  /** With a recent request. */
  people: Map<number, Person>;
  /** Networks without an account, which do not make a realm larger. */
  strangers: Map<number, Person>;
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
/** The cap of a realm that costs less is not lowered from 1 or more, and rises with cheap answers. */
const lowCostMs = 400;
/** The cap of a realm that costs less than this per user, within these limits, is not lowered below 1. */
const [highCostOfPersonMs, minHighCostMs, maxHighCostMs] = [10, 400, 2_000];
const [personHalfLifeMs, realmHalfLifeMs] = [120_000, 5_000];
/** Number of answers after which a user with cheap requests is no longer a newcomer. */
const trustedAfter = 8;
/** Newcomers have to be trusted again after they were forgotten. */
const [forgetPersonMs, forgetStrangerMs] = [600_000, 60_000];
const [minCap, maxCap] = [0.05, 1_024];
/** The minimum fraction of time in which one request of each kind may run, if it is more than the cap. */
const leastShare: Record<Kind, number> = { cheap: 0.2, newcomer: 0.15, costly: 0 };
/** The initial cap of an unknown realm. It is low because requests in progress cannot be stopped. */
const startCap = 2;
/** The minimum fraction of time per user of a realm, so that a large realm keeps more than a small one. */
const capOfPerson = 0.001;
const maxPauseMs = 5_000;

export function createCostlyLane(options: CostlyLaneOptions): CostlyLane {
  const { lag, shared, quietLagMs, now = () => performance.now() } = options;
  const realms = new Map<number, Realm>();
  const disturbance = new Threshold(quietLagMs);
  const waiting: Record<Kind, WaitingTasks> = {
    cheap: new WaitingTasks(maxWaiting),
    newcomer: new WaitingTasks(maxWaiting),
    costly: new WaitingTasks(maxWaiting),
  };
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let wakeUp: NodeJS.Timeout | undefined;

  return {
    async run(tenant, work) {
      const realm = realmOf(tenant.realmId);
      const person = personOf(realm, tenant.userId);
      const held: Held = { kind: kindOf(person), credit: 0 };
      await turnOf(realm, tenant, held);
      return await measureCpu(async (spentMs) => {
        try {
          return await work();
        } finally {
          const costMs = spentMs();
          person.requests.add(1);
          person.answers++;
          for (const { cost } of [person, realm]) cost.add(Math.max(0, costMs - cheapMs));
          end(realm, held, costMs);
        }
      });
    },
    get waiting() {
      return kinds.reduce((sum, kind) => sum + waiting[kind].size, 0);
    },
  };

  function realmOf(id: number): Realm {
    const known = realms.get(id);
    if (known) return known;
    const realm: Realm = {
      cost: new Decaying(now, realmHalfLifeMs),
      cap: startCap,
      held: [],
      inFlight: { cheap: 0, newcomer: 0, costly: 0 },
      pausedUntil: { cheap: 0, newcomer: 0, costly: 0 },
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

  async function turnOf(realm: Realm, tenant: Tenant, held: Held): Promise<void> {
    const { kind } = held;
    const begin = (): void => {
      realm.inFlight[kind]++;
      if (kind !== 'cheap') realm.held.push(held);
    };
    if (waiting[kind].sizeOf(tenant.realmId) === 0 && mayStart(realm, kind)) return begin();
    const turn = waiting[kind].wait(tenant, begin);
    startWaiting();
    await turn;
  }

  function end(realm: Realm, held: Held, costMs: number): void {
    realm.inFlight[held.kind]--;
    if (held.kind !== 'cheap') creditOlder(realm, held, costMs);
    const share = shareOf(realm, held.kind);
    if (realm.cap < 1) realm.pausedUntil[held.kind] = now() + Math.min(costMs * (1 / share - 1), maxPauseMs);
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

  function mayStart({ held, inFlight, cap, pausedUntil }: Realm, kind: Kind): boolean {
    if (cap < 1) return inFlight[kind] === 0 && pausedUntil[kind] <= now();
    return kind === 'cheap' || held.length < cap;
  }

  function startWaiting(): void {
    for (const kind of kinds) {
      const mayHaveTurn = (id: number): boolean => {
        const realm = realms.get(id);
        return realm !== undefined && mayStart(realm, kind);
      };
      while (waiting[kind].startNext(mayHaveTurn));
    }
    wakeAfterPauses();
  }

  function isWaiting(id: number): boolean {
    return kinds.some((kind) => waiting[kind].sizeOf(id) > 0);
  }

  /** Schedules the end of pauses that end before the next tick. */
  function wakeAfterPauses(): void {
    let nextMs = tickMs;
    for (const kind of kinds) {
      if (waiting[kind].size === 0) continue;
      for (const [id, { pausedUntil }] of realms)
        if (pausedUntil[kind] > now() && waiting[kind].sizeOf(id) > 0)
          nextMs = Math.min(nextMs, pausedUntil[kind] - now());
    }
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
        lower(realm, realm.cap < 1 || costMs > highCostOf(realm) ? floorOf(realm) : 1);
      else if (!isDisturbed && !shares.isShared) realm.cap = maxCap;
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
    // Slowly below 1, where the capacity for expensive requests is uncertain.
    if (realm.cap < startCap) realm.cap = Math.min(startCap, realm.cap * (realm.cap < 1 ? 1.05 : 1.25));
    // No realm is delayed, so requests need not wait for cheap answers that raise the cap.
    else if (hasWaiting) realm.cap = Math.min(maxCap, realm.cap * 1.1);
  }

  function forgetUnseen(some: Map<number, Person>, afterMs: number): void {
    for (const [userId, { seenAt, cost }] of some)
      if (now() - seenAt > afterMs && cost.sum < personCostMs) some.delete(userId);
  }

  function forget(): void {
    for (const [id, realm] of realms) {
      const { people, strangers } = realm;
      forgetUnseen(people, forgetPersonMs);
      forgetUnseen(strangers, forgetStrangerMs);
      if (people.size + strangers.size === 0 && realm.held.length === 0 && !isWaiting(id)) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

function kindOf({ cost, requests, answers }: Person): Kind {
  if (cost.sum >= personCostMs && cost.sum > requests.sum * cheapMeanMs) return 'costly';
  return answers < trustedAfter ? 'newcomer' : 'cheap';
}

/** The fraction of time in which a request of this kind may run, if the cap is below 1. */
const shareOf = ({ cap }: Realm, kind: Kind): number => Math.max(cap, leastShare[kind]);

const highCostOf = ({ people }: Realm): number =>
  Math.min(maxHighCostMs, Math.max(minHighCostMs, people.size * highCostOfPersonMs));

function floorOf({ people }: Realm): number {
  return Math.min(1, Math.max(minCap, people.size * capOfPerson));
}
