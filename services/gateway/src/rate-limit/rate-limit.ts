import { crc32 } from 'node:zlib';
import { ChatError } from '@natter/contracts';
import { type LogRedis, promptly, rateKey } from '@natter/event-log';
import { createLocalCounts } from '@natter/service-kit';

export interface RateState {
  limit: number;
  remaining: number;
  /** UNIX seconds. */
  reset: number;
  /** Seconds after which a refused request may come again: until `reset`, or until it would be due. */
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

/** The counter of a budget in its current window. */
interface Counter {
  key: string;
  rate: Rate;
  /** Seconds until the window ends. */
  left: number;
  /** The end of the window, in UNIX seconds. */
  end: number;
  /** The amount that callers may have spent by now. */
  most: number;
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
   * or the request would be due in more than `maxAheadMs`, it spends from none. A weight of 0 only reads. While Redis is
   * unavailable or slow, this process counts alone, beginning with the last known counts. Returns the state of the first
   * budget.
   */
  spend(budgets: Budgets, weight: number, maxAheadMs?: number): Promise<RateState>;
}

/** `spent`: the known amount of each budget. `refused`: the 1-based index of the budget that refused, or 0. */
interface Answer {
  spent: readonly number[];
  refused: number;
}

export function createRateLimiter(redis: LogRedis): RateLimiter {
  const local = createLocalCounts();
  const spendHere = (counters: readonly Counter[], weight: number): Answer => {
    const spent = counters.map(({ key }) => local.get(key));
    const refused = counters.findIndex(({ most }, index) => (spent[index] ?? 0) + Math.min(weight, most) > most);
    if (refused >= 0) return { spent, refused: refused + 1 };
    return { spent: counters.map(({ key, rate }) => local.add(key, weight, rate.windowSeconds)), refused: 0 };
  };
  const remember = (counters: readonly Counter[], { spent }: Answer): void =>
    spent.forEach((amount, index) => {
      const counter = counters[index];
      if (counter) local.raise(counter.key, amount, counter.rate.windowSeconds);
    });
  return {
    async spend({ realmId, all: [budget, ...others] }, weight, maxAheadMs = Number.POSITIVE_INFINITY) {
      const nowSeconds = redis.now() / 1000;
      const counterAt = (of: Budget): Counter => counterOf(realmId, of, nowSeconds, maxAheadMs / 1_000);
      const first = counterAt(budget);
      const counters = [first, ...others.map(counterAt)];
      const args = [weight, ...counters.flatMap(({ most, rate }) => [most, rate.windowSeconds * 2])];
      let answer: Answer;
      try {
        const keys = counters.map(({ key }) => key);
        const [spentOfFirst, refused, ...spentOfOthers] = await promptly(redis.rateScript(keys, args));
        answer = { spent: [spentOfFirst, ...spentOfOthers], refused };
        remember(counters, answer);
      } catch {
        answer = spendHere(counters, weight);
      }
      const { spent, refused } = answer;
      const by = counters[refused - 1] ?? first;
      const isEarly = refused > 0 && by.most < by.rate.limit;
      return {
        limit: first.rate.limit,
        remaining: Math.max(0, first.rate.limit - (spent[0] ?? 0)),
        reset: by.end,
        resetInSeconds: isEarly ? Math.min(by.left, aheadOf(by, (spent[refused - 1] ?? 0) + weight)) : by.left,
        isOver: refused > 0,
        get aheadMs() {
          return 1_000 * Math.max(0, ...counters.map((counter, index) => aheadOf(counter, spent[index] ?? 0)));
        },
      };
    },
  };
}

function counterOf(realmId: number, budget: Budget, nowSeconds: number, maxAheadSeconds: number): Counter {
  const { who, rate } = budget;
  const { number, end } = windowOf(realmId, budget, nowSeconds);
  const left = end - nowSeconds;
  const passed = rate.windowSeconds - left + maxAheadSeconds;
  // At least one, so that a small budget serves a request in each window.
  const evenly = Math.max(1, (burstShare + (evenShare * passed) / rate.windowSeconds) * rate.limit);
  const most = Math.min(rate.limit, Math.floor(evenly));
  return { key: rateKey(realmId, `${who}:${number}`), rate, left, end, most };
}

/** A quarter of a budget may be spent at once, the rest evenly. A tenth is for requests that wait at the end of the window. */
const [burstShare, evenShare] = [0.25, 0.65];

/** Seconds from now until so much may be spent at an even pace. Negative if more could have been spent until now. */
function aheadOf({ rate: { limit, windowSeconds }, left }: Counter, spent: number): number {
  const dueSeconds = ((spent - burstShare * limit) / (evenShare * limit)) * windowSeconds;
  return dueSeconds - (windowSeconds - left);
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
