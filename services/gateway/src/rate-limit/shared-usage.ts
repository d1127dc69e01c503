import { randomUUID } from 'node:crypto';
import { type Bus, usageSubject } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';

/** The recent cost of a realm's requests. */
interface RealmUsage {
  /** CPU milliseconds beyond those of cheap requests. */
  ms: number;
  /** CPU milliseconds of all requests. */
  totalMs: number;
  /** Whether the realm is at its minimum cap. */
  isAtFloor: boolean;
}

export type Usages = ReadonlyMap<number, RealmUsage>;

/**
 * Exchanges the costs of realms between gateways, because one gateway may serve the realm that delays others, and
 * another gateway those others.
 */
export interface SharedUsage {
  publish(usages: Usages): void;
  /** The sum of the costs at the other gateways. */
  ofOthers(): Usages;
}

/** Gateways of the previous release send no `totalMs`. */
type Published = [realmId: number, ms: number, isAtFloor: 0 | 1, totalMs?: number];

const freshMs = 1_500;
/** A message contains the realms with the highest costs. */
const maxPublished = 100;
const maxGateways = 200;

/** `now`: the present time in milliseconds, greater than 0. */
export function shareUsage(bus: Pick<Bus, 'publish' | 'subscribe'>, now = () => performance.now()): SharedUsage {
  const self = randomUUID();
  const ofGateways = new LRUCache<string, Published[]>({ max: maxGateways, ttl: freshMs, perf: { now } });
  bus.subscribe(usageSubject, (payload) => {
    const { gateway, usages } = JSON.parse(Buffer.from(payload).toString()) as { gateway: string; usages: Published[] };
    if (gateway !== self) ofGateways.set(gateway, usages);
  });
  return {
    publish(usages) {
      const most = [...usages].sort(([, a], [, b]) => b.totalMs - a.totalMs).slice(0, maxPublished);
      const tuples = most.map(
        ([id, { ms, isAtFloor, totalMs }]): Published => [id, Math.round(ms), isAtFloor ? 1 : 0, Math.round(totalMs)],
      );
      bus.publish(usageSubject, JSON.stringify({ gateway: self, usages: tuples }));
    },
    ofOthers() {
      const sum = new Map<number, RealmUsage>();
      for (const usages of ofGateways.values())
        for (const [id, ms, isAtFloor, totalMs = ms] of usages)
          add(sum, id, { ms, totalMs, isAtFloor: isAtFloor === 1 });
      return sum;
    },
  };
}

/** A realm is at its minimum cap if it is at all gateways. */
function add(sum: Map<number, RealmUsage>, id: number, { ms, totalMs, isAtFloor }: RealmUsage): void {
  const known = sum.get(id);
  sum.set(id, {
    ms: ms + (known?.ms ?? 0),
    totalMs: totalMs + (known?.totalMs ?? 0),
    isAtFloor: isAtFloor && (known?.isAtFloor ?? true),
  });
}

interface Shares {
  /**
   * Realms whose expensive requests cost more than an equal share, and all of whose requests cost more than half of one. If
   * there are realms in `crowding`, only these, and realms that cost more than all of these together. None of them if the
   * costs in `unreported` are the main cause of the lag, except those that cause them.
   */
  heavy: Usages;
  /** Whether all realms that cost more than an equal share are at their minimum cap. */
  areAtFloor: boolean;
  /** Whether the costs in `unreported` of other realms than this one are the main cause of the lag. */
  isSpared(realmId: number): boolean;
  /**
   * Whether the expensive requests of at least one realm cost clearly less than an equal share. Requests without an account
   * do not count as a realm here, because users of a busy realm send some too.
   */
  hasLight: boolean;
  /** Whether another realm than this one is active. Requests without an account do not count as a realm here. */
  hasOtherThan(realmId: number): boolean;
}

/**
 * The number of equal shares. Realms that cost less than a millisecond have one share together, because anybody can keep
 * many realms active by sending requests without an account to their hosts.
 */
function partsOf(usages: readonly RealmUsage[]): number {
  const costing = usages.filter(({ totalMs }) => totalMs >= 1).length;
  return costing < usages.length ? costing + 1 : costing;
}

const isRealm = (id: number): boolean => id >= 0;

/** Milliseconds by realm. */
type Costs = ReadonlyMap<number, number>;

/**
 * Compares the realms that this gateway and others served recently. `crowding`: realms that delay others by the number of
 * their requests. `unreported`: costs that no answer reports.
 */
export function sharesOf(
  here: Usages,
  elsewhere: Usages,
  { crowding, unreported }: { crowding: ReadonlySet<number>; unreported: Costs },
): Shares {
  const sum = new Map(here);
  for (const [id, usage] of elsewhere) add(sum, id, usage);
  const all = [...sum];
  const parts = partsOf(all.map(([, usage]) => usage));
  const equal = all.reduce((sum, [, { ms }]) => sum + ms, 0) / parts;
  const equalTotal = all.reduce((sum, [, { totalMs }]) => sum + totalMs, 0) / parts;
  const ofCrowds = all.reduce((sum, [id, { totalMs }]) => sum + (crowding.has(id) ? totalMs : 0), 0);
  const mayDelay = (id: number, { totalMs }: RealmUsage): boolean =>
    totalMs > equalTotal / 2 && (crowding.has(id) || totalMs > ofCrowds);
  const dear = new Map(all.filter(([id, usage]) => usage.ms > equal && mayDelay(id, usage)));
  const isSpared = sparedBy(unreported, { requests: sum, dear, equal });
  return {
    heavy: new Map([...dear].filter(([id]) => !isSpared(id))),
    areAtFloor: dear.size > 0 && [...dear.values()].every(({ isAtFloor }) => isAtFloor),
    isSpared,
    hasLight: all.some(([id, { ms }]) => isRealm(id) && ms < equal * 0.8),
    hasOtherThan: (realmId) => all.some(([id]) => isRealm(id) && id !== realmId),
  };
}

/**
 * Realms are spared if their requests beyond an equal share cost no more, together, than realms with unreported costs. So these
 * may at most double the load that nothing limits. Without this, requests that run beside such work would seem to cause the
 * lag, because they are charged with a part of its CPU time.
 */
function sparedBy(
  unreported: Costs,
  { requests, dear, equal }: { requests: Usages; dear: Usages; equal: number },
): (realmId: number) => boolean {
  const causes = new Map([...unreported].filter(([, ms]) => ms >= equal));
  const ofCauses = [...causes].reduce((sum, [id, ms]) => sum + ms + (requests.get(id)?.ms ?? 0), 0);
  const ofOthers = [...dear].reduce((sum, [id, { ms }]) => sum + (causes.has(id) ? 0 : ms), 0);
  return (realmId) => causes.size > 0 && !causes.has(realmId) && ofOthers <= ofCauses;
}
