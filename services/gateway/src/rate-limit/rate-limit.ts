import { crc32 } from 'node:zlib';
import { ChatError } from '@natter/contracts';
import { type LogRedis, promptly, rateKey } from '@natter/event-log';
import { createLocalCounts } from '@natter/service-kit';

export interface RateState {
  limit: number;
  remaining: number;
  /** UNIX seconds. */
  reset: number;
  resetInSeconds: number;
  isOver: boolean;
}

export interface Rate {
  limit: number;
  windowSeconds: number;
}

/** A counter's key, and its limit per window. */
interface Budget {
  who: string;
  rate: Rate;
}

/** Budgets from which a request spends. They lie in one slot of a Redis cluster. */
export interface Budgets {
  /** The realm that has the budgets, or `everyRealm`. */
  realmId: number;
  all: readonly [Budget, ...Budget[]];
}

/** No realm has this number. */
const everyRealm = 0;

/**
 * The budget of a network. It counts over all realms, because a client without an account chooses the realm by the
 * `Host` header.
 */
export const budgetOfNetwork = (kind: 'ip' | 'file' | 'wrong-key', network: string, rate: Rate): Budgets => ({
  realmId: everyRealm,
  all: [{ who: `${kind}:${network}`, rate }],
});

export interface RateLimiter {
  /**
   * Spends a weight from all given budgets, which all gateways share, in one round trip. If one of them has too little left,
   * it spends from none. A weight of 0 only reads. While Redis is unavailable or slow, this process counts alone, beginning
   * with the last known counts. Returns the state of the first budget.
   */
  spend(budgets: Budgets, weight: number): Promise<RateState>;
}

export function createRateLimiter(redis: LogRedis): RateLimiter {
  const local = createLocalCounts();
  const spendHere = (keys: readonly string[], budgets: readonly Budget[], weight: number): [number, number] => {
    const spent = keys.map((key) => local.get(key));
    const refused = budgets.findIndex(
      ({ rate }, index) => (spent[index] ?? 0) + Math.min(weight, rate.limit) > rate.limit,
    );
    if (refused >= 0) return [spent[0] ?? 0, refused + 1];
    const after = keys.map((key, index) => local.add(key, weight, budgets[index]?.rate.windowSeconds ?? 0));
    return [after[0] ?? 0, 0];
  };
  /** The answer of Redis contains the count of the first budget only. */
  const remember = (
    keys: readonly string[],
    budgets: readonly Budget[],
    { weight, answer: [spent, refused] }: { weight: number; answer: [number, number] },
  ): void => {
    const more = refused > 0 ? 0 : weight;
    budgets.forEach(({ rate }, index) => {
      const key = keys[index] ?? '';
      local.raise(key, index === 0 ? spent : local.get(key) + more, rate.windowSeconds);
    });
  };
  return {
    async spend({ realmId, all: budgets }, weight) {
      const [first] = budgets;
      const nowSeconds = redis.now() / 1000;
      const keys: string[] = [];
      const args = [weight];
      for (const budget of budgets) {
        keys.push(rateKey(realmId, `${budget.who}:${windowOf(realmId, budget, nowSeconds).number}`));
        args.push(budget.rate.limit, budget.rate.windowSeconds * 2);
      }
      let answer: [number, number];
      try {
        answer = await promptly(redis.rateScript(keys, args));
        remember(keys, budgets, { weight, answer });
      } catch {
        answer = spendHere(keys, budgets, weight);
      }
      const [spent, refused] = answer;
      const reset = windowOf(realmId, budgets[refused - 1] ?? first, nowSeconds).end;
      return {
        limit: first.rate.limit,
        remaining: Math.max(0, first.rate.limit - spent),
        reset,
        resetInSeconds: reset - nowSeconds,
        isOver: refused > 0,
      };
    },
  };
}

/**
 * The window of a budget at a time. Windows of different budgets begin at different seconds, so that callers who wait
 * for their next window do not all send at once. `end` is in UNIX seconds.
 */
function windowOf(realmId: number, { who, rate }: Budget, nowSeconds: number): { number: number; end: number } {
  const { windowSeconds } = rate;
  const offset = crc32(`${realmId}:${who}`) % windowSeconds;
  const number = Math.floor((nowSeconds + offset) / windowSeconds);
  return { number, end: (number + 1) * windowSeconds - offset };
}

export const rateLimitHit = ({ resetInSeconds }: Pick<RateState, 'resetInSeconds'>): ChatError =>
  new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit', {
    'retry-after': Math.max(0.001, resetInSeconds),
  });
