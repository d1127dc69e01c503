import type { Tenant } from '@natter/database';
import { LRUCache } from 'lru-cache';

interface Allowance {
  /** Maximum CPU milliseconds saved up, and CPU milliseconds regained per second. */
  capacityMs: number;
  perSecondMs: number;
  /** Regained per second while in debt, if it differs. */
  repaidPerSecondMs?: number;
}

interface Bucket {
  leftMs: number;
  at: number;
}

/**
 * A user's own share is used first, then the one that the users of a realm share. A debt is paid back within about a minute for
 * each terminated job, because on a busy machine this may also be the first formula after a worker started again.
 */
const own: Allowance = { capacityMs: 200, perSecondMs: 2, repaidPerSecondMs: 25 };
const shared: Allowance = { capacityMs: 3_000, perSecondMs: 75 };
/** Maximum for all users of a realm together. */
const total: Allowance = { capacityMs: 4_000, perSecondMs: 100 };

/**
 * CPU time of the worker threads, charged to the user and realm that caused it, so that one user's markup does not take
 * the time of others.
 */
export class RenderBudget {
  readonly #users = new LRUCache<string, Bucket>({ max: 50_000 });
  readonly #shared = new LRUCache<number, Bucket>({ max: 10_000 });
  readonly #totals = new LRUCache<number, Bucket>({ max: 10_000 });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  allows(tenant: Tenant): boolean {
    if (this.#totalOf(tenant).leftMs <= 0) return false;
    const { leftMs } = this.#ownOf(tenant);
    // A user deep in debt waits: any rest of the shared time would allow a job that takes far more than the rest.
    return leftMs > 0 || (leftMs > -own.capacityMs && this.#sharedOf(tenant).leftMs > 0);
  }

  charge(tenant: Tenant, cpuMs: number): void {
    const bucket = this.#ownOf(tenant);
    const common = this.#sharedOf(tenant);
    const fromOwn = Math.min(Math.max(bucket.leftMs, 0), cpuMs);
    const fromCommon = Math.min(common.leftMs, cpuMs - fromOwn);
    common.leftMs -= fromCommon;
    // The amount that no budget covered is charged to the user alone, who gets nothing before it is paid back.
    bucket.leftMs -= cpuMs - fromCommon;
    this.#totalOf(tenant).leftMs -= fromOwn + fromCommon;
  }

  #ownOf({ realmId, userId }: Tenant): Bucket {
    return this.#filled(this.#users, `${realmId}:${userId}`, own);
  }

  #sharedOf({ realmId }: Tenant): Bucket {
    return this.#filled(this.#shared, realmId, shared);
  }

  #totalOf({ realmId }: Tenant): Bucket {
    return this.#filled(this.#totals, realmId, total);
  }

  #filled<K extends string | number>(buckets: LRUCache<K, Bucket>, key: K, allowance: Allowance): Bucket {
    const now = this.#now();
    const bucket = buckets.get(key) ?? { leftMs: allowance.capacityMs, at: now };
    const { capacityMs, perSecondMs, repaidPerSecondMs = perSecondMs } = allowance;
    const seconds = (now - bucket.at) / 1_000;
    const inDebt = Math.min(seconds, Math.max(0, -bucket.leftMs) / repaidPerSecondMs);
    const gainedMs = inDebt * repaidPerSecondMs + (seconds - inDebt) * perSecondMs;
    bucket.leftMs = Math.min(capacityMs, bucket.leftMs + gainedMs);
    bucket.at = now;
    buckets.set(key, bucket);
    return bucket;
  }
}
