import type { Owner } from '@natter/database';
import { LRUCache } from 'lru-cache';

interface Allowance {
  /** CPU milliseconds at most saved up, and regained in a second. */
  capacityMs: number;
  perSecondMs: number;
}

interface Bucket {
  leftMs: number;
  at: number;
}

/** A person's own share is always theirs; beyond it a realm's people draw on one that they have in common. */
const own: Allowance = { capacityMs: 200, perSecondMs: 2 };
const shared: Allowance = { capacityMs: 4_000, perSecondMs: 200 };

/** CPU time of the worker threads, counted by who caused it, so that nobody's markup takes the time of others. */
export class RenderBudget {
  readonly #users = new LRUCache<string, Bucket>({ max: 50_000 });
  readonly #realms = new LRUCache<number, Bucket>({ max: 10_000 });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  allows(owner: Owner): boolean {
    return this.#ownOf(owner).leftMs > 0 || this.#sharedOf(owner).leftMs > 0;
  }

  charge(owner: Owner, cpuMs: number): void {
    const bucket = this.#ownOf(owner);
    const common = this.#sharedOf(owner);
    const fromOwn = Math.min(Math.max(bucket.leftMs, 0), cpuMs);
    const fromCommon = Math.min(common.leftMs, cpuMs - fromOwn);
    common.leftMs -= fromCommon;
    // What nobody had left is the person's own debt.
    bucket.leftMs -= cpuMs - fromCommon;
  }

  #ownOf({ realmId, userId }: Owner): Bucket {
    return this.#filled(this.#users, `${realmId}:${userId}`, own);
  }

  #sharedOf({ realmId }: Owner): Bucket {
    return this.#filled(this.#realms, realmId, shared);
  }

  #filled<K extends string | number>(buckets: LRUCache<K, Bucket>, key: K, allowance: Allowance): Bucket {
    const now = this.#now();
    const bucket = buckets.get(key) ?? { leftMs: allowance.capacityMs, at: now };
    const gainedMs = ((now - bucket.at) / 1000) * allowance.perSecondMs;
    bucket.leftMs = Math.min(allowance.capacityMs, bucket.leftMs + gainedMs);
    bucket.at = now;
    buckets.set(key, bucket);
    return bucket;
  }
}
