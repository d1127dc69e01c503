import type { ChatError } from '@natter/contracts';
import { createLocalCounts } from '@natter/service-kit';
import { type Rate, rateLimitHit } from './rate-limit.ts';

/**
 * Limits requests that are refused before another rate limit counts them: unknown paths and methods, invalid hosts, and
 * requests without a key. They are counted by network, in the memory of this process, so that a refusal is cheap.
 */
export interface Refusals {
  /** Counts a refused request. Returns the error that replaces the refusal after too many. */
  count(network: string): ChatError | undefined;
}

/** High, because many clients may share a network. */
const perAnonymousRequest = 10;

export function createRefusals({ limit, windowSeconds }: Rate): Refusals {
  const counts = createLocalCounts();
  const most = limit * perAnonymousRequest;
  return {
    count(network) {
      if (counts.add(network, 1, windowSeconds) <= most) return undefined;
      return rateLimitHit({ resetInSeconds: counts.left(network) });
    },
  };
}
