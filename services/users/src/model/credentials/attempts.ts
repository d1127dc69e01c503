import { ChatError } from '@natter/contracts';
import { type LogRedis, promptly, rateKey } from '@natter/event-log';
import { createLocalCounts } from '@natter/service-kit';

interface Window {
  seconds: number;
  most: number;
}

/**
 * Counts over all processes. While Redis is unavailable or slow, this process counts alone, beginning with the last count
 * from Redis.
 */
export interface Attempts {
  /** Counts one; throws RATE_LIMIT_HIT above the limit. */
  count(realmId: number, what: string, window: Window): Promise<void>;
  /** Increments a count that ends some seconds after the first increment. */
  add(realmId: number, what: string, seconds: number): Promise<number>;
  /** Whole seconds until a count ends; 0 if there is none. */
  left(realmId: number, what: string): Promise<number>;
  /** Lets a count end later: after some seconds from now. False if it has ended, or if Redis is unavailable or slow. */
  prolong(realmId: number, what: string, seconds: number): Promise<boolean>;
  drop(realmId: number, what: string): Promise<void>;
}

export const tooMany = (seconds: number): ChatError =>
  new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', { 'retry-after': Math.max(seconds, 1) });

export function createAttempts({ redis }: LogRedis): Attempts {
  const local = createLocalCounts();
  const add: Attempts['add'] = async (realmId, what, seconds) => {
    const key = rateKey(realmId, what);
    const count = async (): Promise<number> => {
      // Both commands are sent in one round trip: a second one could exceed the deadline after the attempt was counted.
      const [made, left] = await Promise.all([redis.incr(key), redis.ttl(key)]);
      // If the expiry cannot be set, the next attempt sets it.
      if (left === -1) redis.expire(key, seconds).catch(() => undefined);
      local.raise(key, made, left > 0 ? left : seconds);
      return made;
    };
    return promptly(count()).catch(() => local.add(key, 1, seconds));
  };
  const left: Attempts['left'] = async (realmId, what) => {
    const key = rateKey(realmId, what);
    const there = await promptly(redis.ttl(key)).catch(() => 0);
    if (there > 0) local.raise(key, 1, there);
    // Counts made while Redis was unavailable still apply.
    return Math.max(local.left(key), there, 0);
  };
  return {
    add,
    left,
    async count(realmId, what, { seconds, most }) {
      if ((await add(realmId, what, seconds)) > most) throw tooMany(await left(realmId, what));
    },
    prolong: async (realmId, what, seconds) =>
      (await promptly(redis.expire(rateKey(realmId, what), seconds)).catch(() => 0)) === 1,
    async drop(realmId, what) {
      const key = rateKey(realmId, what);
      local.drop(key);
      await promptly(redis.del(key)).catch(() => 0);
    },
  };
}
