import { type Database, untilDeadline, withDeadline } from '@natter/database';
import { createClosedRealms } from './closed-realms.ts';
import { deliverWebhook, type WebhookDelivery, type WebhookOutcome } from './deliver-webhook.ts';
import { claim, closedSeconds, type DueBot, dueBots, leaseSeconds } from './delivery-row.ts';
import { createSlots } from './slots.ts';

export interface WebhookLoop {
  /** A message may be due. */
  hint(): void;
  stop(): Promise<void>;
}

interface Options {
  onOutcome: (outcome: WebhookOutcome) => void;
  onError: (error: unknown, context?: Record<string, unknown>) => void;
}

/** A hint can be lost, so this is the maximum sleep. */
const longestSleepMs = 1_000;
/** Work ends before another process may take the message. */
const deliveryMs = (leaseSeconds - 3) * 1_000;

/** Posts the messages that are due to outgoing webhook bots. Several processes may run it. */
export function startWebhookLoop(
  delivery: WebhookDelivery & { database: Database },
  { onOutcome, onError }: Options,
): WebhookLoop {
  const running = new Set<Promise<void>>();
  const slots = createSlots();
  const closed = createClosedRealms(closedSeconds * 1_000);
  let isStopped = false;
  let isHinted = false;
  let wake: () => void = () => undefined;

  const loop = (async () => {
    while (!isStopped) {
      isHinted = false;
      try {
        const due = await dueBots(delivery.database, closed.paused());
        if (!isStopped) for (const bot of slots.deal(closed.admitted(due))) start(bot);
      } catch (error) {
        onError(error);
      }
      if (!isHinted) await sleep(longestSleepMs * (0.8 + Math.random() * 0.2));
    }
  })();

  return {
    hint: wakeUp,
    stop: async () => {
      isStopped = true;
      wake();
      await loop;
      await Promise.all(running);
    },
  };

  function wakeUp(): void {
    isHinted = true;
    wake();
  }

  function start(bot: DueBot): void {
    closed.begun(bot.realm_id);
    const one = deliverOne(bot).finally(() => {
      running.delete(one);
      slots.free(bot);
    });
    running.add(one);
  }

  async function deliverOne(bot: DueBot): Promise<void> {
    try {
      const outcome = await withDeadline(deliveryMs, () => untilDeadline(claimAndDeliver(bot)));
      if (outcome === undefined) return;
      onOutcome(outcome);
      closed.ended(bot.realm_id, outcome === 'closed');
      // This delivery has ended, so another one may begin.
      if (outcome !== 'closed') setImmediate(wakeUp);
    } catch (error) {
      onError(error, { realm: bot.realm_id, bot: bot.bot_id });
    }
  }

  async function claimAndDeliver(bot: DueBot): Promise<WebhookOutcome | undefined> {
    const row = await claim(delivery.database, bot);
    return row && deliverWebhook(delivery, row, () => isStopped);
  }

  function sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, isStopped ? 0 : ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }
}
