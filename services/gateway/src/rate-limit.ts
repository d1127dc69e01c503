import { ChatError } from '@natter/contracts';
import { type LogRedis, rateKey } from '@natter/event-log';

export interface RateState {
  limit: number;
  remaining: number;
  /** UNIX seconds. */
  reset: number;
}

const windowSeconds = 60;

/** Counts requests of one caller over all gateways. Without Redis nobody is limited. */
export async function countRequest(redis: LogRedis, realmId: number, who: string, limit: number): Promise<RateState> {
  const now = Date.now() / 1000;
  const window = Math.floor(now / windowSeconds);
  const reset = (window + 1) * windowSeconds;
  const key = rateKey(realmId, `${who}:${window}`);
  let count = 0;
  try {
    count = await redis.redis.incr(key);
    if (count === 1) await redis.redis.expire(key, windowSeconds * 2);
  } catch {
    return { limit, remaining: limit, reset };
  }
  if (count > limit)
    throw new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', { 'retry-after': reset - now });
  return { limit, remaining: limit - count, reset };
}
