import { ChatError, unavailable } from '@natter/contracts';

/** The memory of one request's body. It is freed when its last holder releases it. */
export interface BodyLease {
  /** Throws RATE_LIMIT_HIT if the owner holds too much, SERVICE_UNAVAILABLE if the process does. */
  grow(bytes: number): void;
  retain(): void;
  release(): void;
}

/** Who sends a body. */
export interface Sender {
  /** An organization, or everybody without an account. */
  group: string;
  /** A user or a network. */
  owner: string;
}

export interface BodyBudget {
  open(sender: Sender): BodyLease;
  readonly held: number;
}

/**
 * Bounds the request bodies in memory: all of this process, the part of each owner, and that of each group, which is half of what other
 * groups leave. So one group cannot keep others from sending, however many owners it has. All have room for the largest body: a smaller
 * budget would refuse it for ever.
 */
export function createBodyBudget(limits: { total: number; perOwner: number; largest: number }): BodyBudget {
  const perOwner = Math.max(limits.perOwner, limits.largest);
  const total = Math.max(limits.total, 2 * perOwner);
  const [byOwner, byGroup] = [new Map<string, number>(), new Map<string, number>()];
  let held = 0;

  function add({ group, owner }: Sender, bytes: number): void {
    held += bytes;
    addTo(byOwner, owner, bytes);
    addTo(byGroup, group, bytes);
  }

  return {
    open(sender) {
      let size = 0;
      let holders = 1;
      return {
        grow(bytes) {
          // A request that has ended holds no memory, even if more data arrives.
          if (holders === 0) throw unavailable();
          if ((byOwner.get(sender.owner) ?? 0) + bytes > perOwner)
            throw new ChatError('RATE_LIMIT_HIT', 'Too much data is being sent at a time', { 'retry-after': 1 });
          const ofGroup = byGroup.get(sender.group) ?? 0;
          if (ofGroup + bytes > (total - (held - ofGroup)) / 2) throw unavailable();
          size += bytes;
          add(sender, bytes);
        },
        retain() {
          holders++;
        },
        release() {
          holders--;
          if (holders > 0 || size === 0) return;
          add(sender, -size);
          size = 0;
        },
      };
    },
    get held() {
      return held;
    },
  };
}

function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum > 0) sums.set(key, sum);
  else sums.delete(key);
}
