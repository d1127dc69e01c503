import type { ChatError } from '@natter/contracts';
import { Counts, createLocalCounts } from '@natter/service-kit';

/**
 * Delays refusals for callers who continue to send above their rate limit. A client that sends the next request directly after a
 * refusal would otherwise send thousands a second, each with a body that the gateway has to receive. The delay begins when the
 * work of the request has ended, so a delayed refusal holds no body and no turn.
 */
export interface SlowRefusals {
  /** Returns the error, marked as a refusal of this caller. */
  mark(error: ChatError, who: string): ChatError;
  /**
   * Resolves when an error may be sent; undefined if it may be sent at once. The result is false if too many refusals wait
   * already. Then the connection has to be closed, so that the client needs another one for its next request.
   */
  delayOf(error: ChatError): Promise<boolean> | undefined;
  readonly waiting: number;
}

/** Refusals that a caller gets without a delay, per window. */
const prompt = 20;
const windowSeconds = 60;
const [minDelayMs, maxDelayMs] = [800, 1_200];
/** Refusals that wait at a time. */
const [maxWaiting, maxOfCaller] = [10_000, 200];

export function createSlowRefusals(): SlowRefusals {
  const counts = createLocalCounts();
  const marked = new WeakMap<ChatError, string>();
  const waitingOf = new Counts<string>();
  let waiting = 0;

  async function wait(who: string): Promise<boolean> {
    const delayMs = minDelayMs + Math.random() * (maxDelayMs - minDelayMs);
    waiting++;
    waitingOf.add(who);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    waiting--;
    waitingOf.add(who, -1);
    return true;
  }

  return {
    mark(error, who) {
      marked.set(error, who);
      return error;
    },
    delayOf(error) {
      const who = marked.get(error);
      if (who === undefined || counts.add(who, 1, windowSeconds) <= prompt) return undefined;
      if (waiting >= maxWaiting || waitingOf.of(who) >= maxOfCaller) return Promise.resolve(false);
      return wait(who);
    },
    get waiting() {
      return waiting;
    },
  };
}
