import { Decaying } from './decaying.ts';

/** Milliseconds by realm. */
type Costs = ReadonlyMap<number, number>;

/** Half-life of the costs, the same as in gateways. */
const halfLifeMs = 5_000;
/** Most work takes less than this. It is not counted, like the first milliseconds of a request. */
const cheapMs = 10;
/** Lower costs are neither kept nor reported. */
const noticeableMs = 50;
const maxReported = 5;
const forgetFrom = 100;

interface Running {
  readonly realmId: number;
  spentMs(): number;
}

const now = (): number => performance.now();
const running = new Set<Running>();
const ofEvents = new Map<number, Decaying>();

const overOf = (costMs: number): number => Math.max(0, costMs - cheapMs);

/** Reports the cost of a request of the realm until it is answered. The answer reports it then. */
export async function untilAnswered<R>(realmId: number, spentMs: () => number, work: () => Promise<R>): Promise<R> {
  const entry = { realmId, spentMs };
  running.add(entry);
  try {
    return await work();
  } finally {
    running.delete(entry);
  }
}

/** Reports the cost of work for events of the realm while it runs, and for some seconds afterwards. */
export async function whileRemembered<R>(realmId: number, spentMs: () => number, work: () => Promise<R>): Promise<R> {
  try {
    return await untilAnswered(realmId, spentMs, work);
  } finally {
    remember(realmId, overOf(spentMs()));
  }
}

function remember(realmId: number, costMs: number): void {
  if (costMs === 0) return;
  const sum = ofEvents.get(realmId) ?? new Decaying(now, halfLifeMs);
  sum.add(costMs);
  ofEvents.set(realmId, sum);
  if (ofEvents.size > forgetFrom) for (const [id, { sum }] of ofEvents) if (sum < noticeableMs) ofEvents.delete(id);
}

/**
 * The highest costs in this process that no answer reports: of unfinished requests, and of recent work for events. Gateways
 * compare them with the costs of answered requests when they decide which realms delay others.
 */
export function unreportedCosts(): Costs {
  const costs = new Map([...ofEvents].map(([id, { sum }]) => [id, sum]));
  for (const { realmId, spentMs } of running) costs.set(realmId, (costs.get(realmId) ?? 0) + overOf(spentMs()));
  const noticeable = [...costs].filter(([, ms]) => ms >= noticeableMs);
  return new Map(noticeable.sort(([, a], [, b]) => b - a).slice(0, maxReported));
}

export const costsText = (costs: Costs): string => [...costs].map(([id, ms]) => `${id}:${Math.round(ms)}`).join(' ');

/** The text is empty if there are no costs, and in answers of the previous release. */
export const costsOf = (text: string): Costs =>
  new Map(
    text
      .split(' ')
      .map((part) => part.split(':').map(Number) as [number, number])
      .filter(([id, ms]) => id > 0 && ms > 0),
  );

/** The unreported costs of other services, as their answers state them. */
export interface CostsOfServices {
  note(service: string, reported: Costs): void;
  /** The sum over all services that answered recently. */
  sum(): Costs;
}

export function createCostsOfServices(): CostsOfServices {
  const ofServices = new Map<string, { costs: Costs; at: number }>();
  return {
    note(service, reported) {
      const before = ofServices.get(service)?.costs ?? new Map<number, number>();
      if (before.size + reported.size === 0) return;
      // Replicas of a service have different costs, so these are averaged.
      const mean = (id: number): number => (before.get(id) ?? 0) * 0.7 + (reported.get(id) ?? 0) * 0.3;
      const costs = [...new Set([...before.keys(), ...reported.keys()])].map((id): [number, number] => [id, mean(id)]);
      ofServices.set(service, { costs: new Map(costs.filter(([, ms]) => ms >= 1)), at: now() });
    },

    sum() {
      const sum = new Map<number, number>();
      for (const { costs, at } of ofServices.values())
        if (now() - at < halfLifeMs) for (const [id, ms] of costs) sum.set(id, (sum.get(id) ?? 0) + ms);
      return sum;
    },
  };
}
