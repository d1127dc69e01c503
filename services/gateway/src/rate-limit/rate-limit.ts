import { ChatError } from '@natter/contracts';
import { type LogRedis, rateKey } from '@natter/event-log';
import { createLocalCounts } from '@natter/service-kit';

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

/** A counter's key, and its limit per window. */
export interface Budget {
  who: string;
  rate: Rate;
}

export interface RateLimiter {
  /**
   * Spends a cost from budgets of a realm over all gateways, in one round trip; from none if one has too little left. A
   * cost of 0 only reads. While Redis is unavailable this process counts alone. Returns the state of the first budget.
   */
  spend(realmId: number, budgets: readonly [Budget, ...Budget[]], cost: number): Promise<RateState>;
}

export function createRateLimiter(redis: LogRedis): RateLimiter {
  const local = createLocalCounts();
  const spendHere = (keys: readonly string[], budgets: readonly Budget[], cost: number): [number, number] => {
    const spent = keys.map((key) => local.get(key));
    const refused = budgets.findIndex(
      ({ rate }, index) => (spent[index] ?? 0) + Math.min(cost, rate.limit) > rate.limit,
    );
    if (refused >= 0) return [spent[0] ?? 0, refused + 1];
    const after = keys.map((key, index) => local.add(key, cost, budgets[index]?.rate.windowSeconds ?? 0));
    return [after[0] ?? 0, 0];
  };
  return {
    async spend(realmId, budgets, cost) {
      const [first] = budgets;
      const now = Date.now() / 1000;
      const keys = budgets.map(({ who, rate }) => rateKey(realmId, `${who}:${Math.floor(now / rate.windowSeconds)}`));
      const args = budgets.flatMap(({ rate }) => [rate.limit, rate.windowSeconds * 2]);
      const [spent, refused] = await redis
        .rateScript(keys, [cost, ...args])
        .catch(() => spendHere(keys, budgets, cost));
      const { rate } = budgets[refused - 1] ?? first;
      return {
        limit: first.rate.limit,
        remaining: Math.max(0, first.rate.limit - spent),
        reset: (Math.floor(now / rate.windowSeconds) + 1) * rate.windowSeconds,
        isOver: refused > 0,
      };
    },
  };
}

export const rateLimitHit = ({ reset }: RateState): ChatError =>
  new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', {
    'retry-after': Math.max(0.001, reset - Date.now() / 1000),
  });
