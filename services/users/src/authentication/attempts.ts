import { ChatError } from '@natter/contracts';
import { type LogRedis, rateKey } from '@natter/event-log';

interface Window {
  seconds: number;
  most: number;
}

export interface Attempts {
  /** Counts one; throws RATE_LIMIT_HIT over the most. Without Redis nobody is limited. */
  count(realmId: number, what: string, window: Window): Promise<void>;
  /**
   * Counts, one at a time for the same thing: whoever logs in at several places at once is not taken for somebody who
   * guesses, because each success starts the count anew before the next begins.
   */
  inTurn<R>(
    realmId: number,
    what: string,
    window: Window,
    attempt: (succeeded: () => Promise<void>) => Promise<R>,
  ): Promise<R>;
}

export function createAttempts({ redis }: LogRedis): Attempts {
  const turns = new Map<string, Promise<unknown>>();
  const count: Attempts['count'] = async (realmId, what, { seconds, most }) => {
    const key = rateKey(realmId, what);
    let made = 0;
    let left = seconds;
    try {
      made = await redis.incr(key);
      if (made === 1) await redis.expire(key, seconds);
      else if (made > most) left = await redis.ttl(key);
      // Whoever died between counting and setting the end leaves a key without one.
      if (left === -1) await redis.expire(key, seconds);
    } catch {
      return;
    }
    if (made > most)
      throw new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', { 'retry-after': Math.max(left, 1) });
  };
  return {
    count,
    async inTurn(realmId, what, window, attempt) {
      const key = rateKey(realmId, what);
      const before = turns.get(key) ?? Promise.resolve();
      const own = before
        .catch(() => undefined)
        .then(async () => {
          await count(realmId, what, window);
          return attempt(async () => {
            await redis.del(key).catch(() => 0);
          });
        });
      turns.set(key, own);
      try {
        return await own;
      } finally {
        if (turns.get(key) === own) turns.delete(key);
      }
    },
  };
}
