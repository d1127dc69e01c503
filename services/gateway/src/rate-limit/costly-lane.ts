import { currentDeadline, Decaying, type Lag, measureCost } from '@natter/service-kit';
import { cheapMs, type Held, type Kind, kinds, LaneRealm, type Person, personCostMs } from './lane-realm.ts';
import { PacedTasks } from './paced-tasks.ts';
import { type SharedUsage, sharesOf } from './shared-usage.ts';
import type { Tenant } from './tenant.ts';
import { Threshold } from './usage.ts';

/**
 * Holds back users whose requests are expensive, while these delay other realms. A request is classified by the CPU
 * time that it took, not by its kind, because an attacker chooses the parameters. Users with cheap requests are not
 * held back, however many they send.
 */
export interface CostlyLane {
  /** Rejects with SERVICE_UNAVAILABLE if `work` cannot start by its deadline, and at once if `refuses` returns true. */
  run<R>(tenant: Tenant, work: () => Promise<R>): Promise<R>;
  /** Whether too many requests of the user wait already. */
  refuses(tenant: Tenant): boolean;
  /** Number of waiting requests. */
  readonly waiting: number;
}

export interface CostlyLaneOptions {
  /** How long messages wait in the event loops of the system. */
  lag: () => Lag;
  shared: SharedUsage;
  /** Milliseconds, by realm, that unfinished requests and recent work for events cost in services. */
  unreported: () => ReadonlyMap<number, number>;
  /** Realms that delay others by the number of their requests. */
  crowding: () => ReadonlySet<number>;
  /** Expensive requests delay others while long turns of the event loops cause more lag than this. */
  quietLagMs: number;
  now?: () => number;
}

const tickMs = 100;
/** The gateway publishes the costs of its realms at every third tick. */
const publishEvery = 3;
const forgetEvery = 50;
/**
 * Mean cost of a request, beyond `cheapMs`, above which a user is held as costly. Requests that are cheap as a rule cost
 * more than `cheapMs` now and then.
 */
const cheapMeanMs = 4;
/** The service of a request that was cancelled reports no cost. Such a request costs its time in flight, up to this. */
const maxCancelledCostMs = 100;
const personHalfLifeMs = 120_000;
/** A realm without a request for this long does not count as active. Its next request finds the cap of an unknown realm. */
const activeMs = 60_000;
/** Number of answers after which a user with cheap requests is no longer a newcomer. */
const trustedAfter = 8;
/** After this time without a request, a user or a network is forgotten, and is a newcomer with its next request. */
const [forgetPersonMs, forgetStrangerMs] = [600_000, 60_000];

export function createCostlyLane(options: CostlyLaneOptions): CostlyLane {
  const { lag, shared, unreported, crowding, quietLagMs, now = () => performance.now() } = options;
  const realms = new Map<number, LaneRealm>();
  const disturbance = new Threshold(quietLagMs);
  const waiting = { newcomer: new PacedTasks(now), costly: new PacedTasks(now) };
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
          const overMs = Math.max(0, costMs - cheapMs);
          person.cost.add(overMs);
          realm.cost.add(overMs);
          realm.total.add(costMs);
          if (held) end(tenant.realmId, realm, held, costMs);
        }
      });
    },
    refuses: (tenant) => kinds.some((kind) => waiting[kind].refuses(tenant)),
    get waiting() {
      return waiting.newcomer.size + waiting.costly.size;
    },
  };

  function realmOf(id: number): LaneRealm {
    const known = realms.get(id);
    if (known) {
      known.seenAt = now();
      return known;
    }
    const realm = new LaneRealm(now);
    realms.set(id, realm);
    timer ??= setInterval(adjust, tickMs).unref();
    return realm;
  }

  function personOf({ people, strangers }: LaneRealm, userId: number): Person {
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

  async function admitted(realm: LaneRealm, tenant: Tenant, kind: Kind): Promise<Held> {
    const held: Held = { kind, credit: 0 };
    const begin = (): void => realm.begin(held);
    if (waiting[kind].sizeOf(tenant.realmId) === 0 && realm.mayStart(kind)) begin();
    else {
      const turn = waiting[kind].wait(tenant, begin);
      startWaiting();
      await turn;
    }
    return held;
  }

  function end(realmId: number, realm: LaneRealm, held: Held, costMs: number): void {
    const pauseMs = realm.end(held, costMs);
    // `adjust` starts waiting requests at every tick, so it ends longer pauses.
    if (pauseMs > 0 && pauseMs < tickMs && waiting[held.kind].sizeOf(realmId) > 0)
      setTimeout(startWaiting, Math.ceil(pauseMs)).unref();
    startWaiting();
  }

  function startWaiting(): void {
    for (const kind of kinds) {
      const mayHaveTurn = (id: number): boolean => realms.get(id)?.mayStart(kind) ?? false;
      while (waiting[kind].startNext(mayHaveTurn));
    }
  }

  function isWaiting(id: number): boolean {
    return kinds.some((kind) => waiting[kind].sizeOf(id) > 0);
  }

  function adjust(): void {
    const { longMs } = lag();
    const active = [...realms].filter(([, { seenAt, heldInFlight }]) => heldInFlight > 0 || now() - seenAt < activeMs);
    const here = new Map(
      active.map(([id, { cost, total, isAtFloor }]) => [id, { ms: cost.sum, totalMs: total.sum, isAtFloor }]),
    );
    if (ticks++ % publishEvery === 0) shared.publish(here);
    const shares = sharesOf(here, shared.ofOthers(), { crowding: crowding(), unreported: unreported() });
    const isDisturbed = disturbance.isExceeded(longMs, shares.areAtFloor, now()) && shares.hasLight;
    for (const [id, realm] of realms) {
      if (!here.has(id)) realm.restart();
      else if (isDisturbed && shares.isSpared(id)) realm.recover();
      else if (isDisturbed) realm.lower(shares.heavy.get(id)?.ms ?? 0);
      else if (!shares.hasOtherThan(id)) realm.open();
      else if (realm.cap >= 1 || disturbance.isCalm) realm.raise(isWaiting(id));
    }
    startWaiting();
    if (ticks % forgetEvery === 0) forget();
  }

  function forgetUnseen(some: Map<number, Person>, afterMs: number): void {
    for (const [userId, { seenAt, cost }] of some)
      if (now() - seenAt > afterMs && cost.sum < personCostMs) some.delete(userId);
  }

  function forget(): void {
    for (const [id, { people, strangers, heldInFlight, seenAt }] of realms) {
      forgetUnseen(people, forgetPersonMs);
      forgetUnseen(strangers, forgetStrangerMs);
      const isUsed = people.size + strangers.size + heldInFlight > 0 || isWaiting(id);
      if (!isUsed && now() - seenAt > activeMs) realms.delete(id);
    }
    if (realms.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

/** Undefined if requests of the user are not held. */
function kindOf({ cost, requests, answers }: Person): Kind | undefined {
  if (cost.sum >= personCostMs && cost.sum > requests.sum * cheapMeanMs) return 'costly';
  return answers < trustedAfter ? 'newcomer' : undefined;
}
