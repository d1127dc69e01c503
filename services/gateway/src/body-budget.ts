import { ChatError, unavailable } from '@natter/contracts';

/** The memory of one request's body. It is given back when its last holder releases it. */
export interface BodyLease {
  /** Throws RATE_LIMIT_HIT where the owner holds too much, SERVICE_UNAVAILABLE where the process does. */
  grow(bytes: number): void;
  retain(): void;
  release(): void;
}

export interface BodyBudget {
  /** `owner` is a user or an address. */
  open(owner: string): BodyLease;
  readonly held: number;
}

/**
 * Bounds the request bodies in memory: all of this process, and the part of each owner. Both have room for the largest body: a
 * smaller budget would refuse it for ever.
 */
export function createBodyBudget(limits: { total: number; perOwner: number; largest: number }): BodyBudget {
  const perOwner = Math.max(limits.perOwner, limits.largest);
  const total = Math.max(limits.total, perOwner);
  const byOwner = new Map<string, number>();
  let held = 0;

  function add(owner: string, bytes: number): void {
    held += bytes;
    const sum = (byOwner.get(owner) ?? 0) + bytes;
    if (sum > 0) byOwner.set(owner, sum);
    else byOwner.delete(owner);
  }

  return {
    open(owner) {
      let size = 0;
      let holders = 1;
      return {
        grow(bytes) {
          // A request that has ended holds nothing any more, whatever still arrives.
          if (holders === 0) throw unavailable();
          if ((byOwner.get(owner) ?? 0) + bytes > perOwner)
            throw new ChatError('RATE_LIMIT_HIT', 'Too much data is being sent at a time', { 'retry-after': 1 });
          if (held + bytes > total) throw unavailable();
          size += bytes;
          add(owner, bytes);
        },
        retain() {
          holders++;
        },
        release() {
          holders--;
          if (holders > 0 || size === 0) return;
          add(owner, -size);
          size = 0;
        },
      };
    },
    get held() {
      return held;
    },
  };
}
