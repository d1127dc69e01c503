import { ChatError } from '@natter/contracts';
import { type LogRedis, rateKey } from '@natter/event-log';

export interface RateState {
  limit: number;
  remaining: number;
  /** UNIX seconds. */
  reset: number;
  isOver: boolean;
}

export interface Rate {
  limit: number;
  windowSeconds: number;
}

/** Counts requests of one caller over all gateways; 0 only looks. Without Redis nobody is limited. */
export async function countRequest(
  redis: LogRedis,
  realmId: number,
  who: string,
  rate: Rate,
  by: 0 | 1 = 1,
): Promise<RateState> {
  const { limit, windowSeconds } = rate;
  const { key, reset } = windowOf(realmId, who, windowSeconds);
  let count = 0;
  try {
    count = by === 0 ? Number((await redis.redis.get(key)) ?? 0) : await redis.redis.incr(key);
    if (by === 1 && count === 1) await redis.redis.expire(key, windowSeconds * 2);
  } catch {
    return { limit, remaining: limit, reset, isOver: false };
  }
  return { limit, remaining: Math.max(0, limit - count), reset, isOver: count > limit };
}

export async function forgetRequests(redis: LogRedis, realmId: number, who: string, rate: Rate): Promise<void> {
  await redis.redis.del(windowOf(realmId, who, rate.windowSeconds).key).catch(() => undefined);
}

function windowOf(realmId: number, who: string, windowSeconds: number): { key: string; reset: number } {
  const window = Math.floor(Date.now() / 1000 / windowSeconds);
  return { key: rateKey(realmId, `${who}:${window}`), reset: (window + 1) * windowSeconds };
}

export const rateLimitHit = ({ reset }: RateState): ChatError =>
  new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', {
    'retry-after': Math.max(0.001, reset - Date.now() / 1000),
  });
