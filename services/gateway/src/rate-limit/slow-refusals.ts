import { createLocalCounts } from '@natter/service-kit';

/**
 * Delays refusals of callers who go on sending above their rate limit. A client that sends the next request at once after a refusal
 * would otherwise send thousands a second, each with a body that the gateway has to receive.
 */
export interface SlowRefusals {
  /** Resolves when a caller may be told that the limit is exceeded. */
  wait(who: string): Promise<void>;
}

/** Refusals that a caller gets without a delay, per window. */
const prompt = 20;
const windowSeconds = 60;
const [minDelayMs, maxDelayMs] = [800, 1_200];

export function createSlowRefusals(): SlowRefusals {
  const counts = createLocalCounts();
  return {
    async wait(who) {
      if (counts.add(who, 1, windowSeconds) <= prompt) return;
      const delayMs = minDelayMs + Math.random() * (maxDelayMs - minDelayMs);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    },
  };
}
