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
  /**
   * Milliseconds until the request is due if requests spend evenly. If all wait until they are due, and a tenth of the
   * budget suffices for those that wait, none exceeds the budget.
   */
  aheadMs: number;
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
export const budgetOfNetwork = (
  kind: 'ip' | 'file' | 'picture' | 'wrong-key',
  network: string,
  rate: Rate,
): Budgets => ({
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

/** `spent`: the known amount of each budget. `refused`: the 1-based index of the budget that refused, or 0. */
interface Answer {
  spent: readonly number[];
  refused: number;
}

export function createRateLimiter(redis: LogRedis): RateLimiter {
  const local = createLocalCounts();
  const spendHere = (keys: readonly string[], budgets: readonly Budget[], weight: number): Answer => {
    const spent = keys.map((key) => local.get(key));
    const refused = budgets.findIndex(
      ({ rate }, index) => (spent[index] ?? 0) + Math.min(weight, rate.limit) > rate.limit,
    );
    if (refused >= 0) return { spent, refused: refused + 1 };
    return {
      spent: keys.map((key, index) => local.add(key, weight, budgets[index]?.rate.windowSeconds ?? 0)),
      refused: 0,
    };
  };
  const remember = (keys: readonly string[], budgets: readonly Budget[], { spent }: Answer): void =>
    spent.forEach((amount, index) => {
      local.raise(keys[index] ?? '', amount, budgets[index]?.rate.windowSeconds ?? 0);
    });
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
      let answer: Answer;
      try {
        const [spentOfFirst, refused, ...others] = await promptly(redis.rateScript(keys, args));
        answer = { spent: [spentOfFirst, ...others], refused };
        remember(keys, budgets, answer);
      } catch {
        answer = spendHere(keys, budgets, weight);
      }
      const { spent, refused } = answer;
      const reset = windowOf(realmId, budgets[refused - 1] ?? first, nowSeconds).end;
      return {
        limit: first.rate.limit,
        remaining: Math.max(0, first.rate.limit - (spent[0] ?? 0)),
        reset,
        resetInSeconds: reset - nowSeconds,
        isOver: refused > 0,
        get aheadMs() {
          const of = (budget: Budget, index: number): number =>
            aheadOf(budget.rate, spent[index] ?? 0, windowOf(realmId, budget, nowSeconds).end - nowSeconds);
          return 1_000 * Math.max(0, ...budgets.map(of));
        },
      };
    },
  };
}

/** A quarter of a budget may be spent at once, the rest evenly. A tenth is for requests that wait at the end of the window. */
const [burstShare, evenShare] = [0.25, 0.65];

/** Seconds from now until so much may be spent at an even pace. Negative if more could have been spent until now. */
function aheadOf({ limit, windowSeconds }: Rate, spent: number, secondsLeft: number): number {
  const dueSeconds = ((spent - burstShare * limit) / (evenShare * limit)) * windowSeconds;
  return dueSeconds - (windowSeconds - secondsLeft);
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
