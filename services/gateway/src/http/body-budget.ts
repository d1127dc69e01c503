import { ChatError, unavailable } from '@natter/contracts';

/** The memory of one request's body. It is freed when its last holder releases it. */
export interface BodyLease {
  /** Throws RATE_LIMIT_HIT if the caller holds too much, SERVICE_UNAVAILABLE if the process does. */
  grow(bytes: number): void;
  retain(): void;
  release(): void;
}

/** Who sends a body. */
export interface Sender {
  /** An organization, or everybody without an account. */
  group: string;
  /** A user or a network. */
  caller: string;
}

export interface BodyBudget {
  open(sender: Sender): BodyLease;
  readonly held: number;
}

/**
 * Bounds the request bodies in memory: all of this process, the part of each caller, and that of each group, which is half of what other
 * groups leave. So one group cannot keep others from sending, however many callers it has. All have room for the largest body: a smaller
 * budget would refuse it forever.
 */
export function createBodyBudget(limits: { total: number; perCaller: number; largest: number }): BodyBudget {
  const perCaller = Math.max(limits.perCaller, limits.largest);
  const total = Math.max(limits.total, 2 * perCaller);
  const [byCaller, byGroup] = [new Map<string, number>(), new Map<string, number>()];
  let held = 0;

  function add({ group, caller }: Sender, bytes: number): void {
    held += bytes;
    addTo(byCaller, caller, bytes);
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
          if ((byCaller.get(sender.caller) ?? 0) + bytes > perCaller)
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
