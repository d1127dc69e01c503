import { LRUCache } from 'lru-cache';
import { Decaying } from './decaying.ts';

/** Milliseconds by realm. */
type Costs = ReadonlyMap<number, number>;

/** Half-life of the costs, the same as in gateways. */
const halfLifeMs = 5_000;
/** Most work takes less than this. It is not counted, like the first milliseconds of a request. */
const cheapMs = 10;
/** Lower costs are not reported. */
const noticeableMs = 50;
const maxReported = 5;
const leastKeptMs = 1;
const computeEveryMs = 10;
/** For how long a process reports that it has no more costs, and for how long a report counts. */
const reportEmptyMs = 10_000;
const maxProcesses = 200;

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
}

/**
 * The highest costs in this process that no answer reports: of unfinished requests, and of recent work for events. Gateways
 * compare them with the costs of answered requests when they decide which realms delay others.
 */
export function unreportedCosts(): Costs {
  for (const [id, { sum }] of ofEvents) if (sum < leastKeptMs) ofEvents.delete(id);
  const costs = new Map([...ofEvents].map(([id, { sum }]) => [id, sum]));
  // The dearest work of a realm only: work that waits is charged with an equal part of the CPU time, too, so many waiting
  // requests would take the place of a few expensive ones.
  const dearest = new Map<number, number>();
  for (const { realmId, spentMs } of running)
    dearest.set(realmId, Math.max(dearest.get(realmId) ?? 0, overOf(spentMs())));
  for (const [id, ms] of dearest) costs.set(id, (costs.get(id) ?? 0) + ms);
  const noticeable = [...costs].filter(([id, ms]) => id > 0 && ms >= noticeableMs);
  return new Map(noticeable.sort(([, a], [, b]) => b - a).slice(0, maxReported));
}

/** `instance`: the process that reports the costs. */
export interface CostsReport {
  instance: string;
  costs: Costs;
}

/**
 * Returns the text of the present report for a header; undefined if the last costs were reported long ago. It is computed at most
 * every 10 ms, because every answer contains it.
 */
export function createReporter(instance: string, costsNow = unreportedCosts): () => string | undefined {
  let text = instance;
  let computedAt = Number.NEGATIVE_INFINITY;
  let hadCostsAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - computedAt >= computeEveryMs) {
      computedAt = now();
      const costs = costsNow();
      text = [instance, ...[...costs].map(([id, ms]) => `${id}:${Math.round(ms)}`)].join(' ');
      if (costs.size > 0) hadCostsAt = computedAt;
    }
    // An empty report replaces the last one.
    return now() - hadCostsAt < reportEmptyMs ? text : undefined;
  };
}

/** Undefined if the answer contains no report, as those of the previous release. */
export function reportOf(text: string): CostsReport | undefined {
  const [instance, ...parts] = text.split(' ');
  if (!instance) return undefined;
  const costs = parts.map((part) => part.split(':').map(Number) as [number, number]);
  return { instance, costs: new Map(costs.filter(([id, ms]) => id > 0 && ms > 0)) };
}

/** The unreported costs in other processes, as their answers state them. */
export interface CostsElsewhere {
  note(report: CostsReport): void;
  /** The sum over all processes. Costs decrease with the age of the report. */
  sum(): Costs;
}

export function createCostsElsewhere(): CostsElsewhere {
  const reports = new LRUCache<string, { costs: Costs; at: number }>({ max: maxProcesses });
  return {
    note({ instance, costs }) {
      if (costs.size > 0) reports.set(instance, { costs, at: now() });
      else reports.delete(instance);
    },

    sum() {
      const sum = new Map<number, number>();
      for (const { costs, at } of reports.values()) {
        const ageMs = now() - at;
        if (ageMs > reportEmptyMs) continue;
        for (const [id, ms] of costs) sum.set(id, (sum.get(id) ?? 0) + ms * 0.5 ** (ageMs / halfLifeMs));
      }
      return sum;
    },
  };
}
