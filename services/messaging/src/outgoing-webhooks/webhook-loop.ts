import type { Database } from '@natter/database';
import { deliverWebhook, type WebhookDelivery, type WebhookOutcome } from './deliver-webhook.ts';
import { claim, type DueBot, dueBots } from './delivery-row.ts';

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
/** Requests in flight of this process. Those of one realm and of one bot are few, so that slow bots delay no others. */
const atOnce = 64;
const atOncePerRealm = 16;
const atOncePerBot = 4;

/** Posts the messages that are due to outgoing webhook bots. Several processes may run it. */
export function startWebhookLoop(
  delivery: WebhookDelivery & { database: Database },
  { onOutcome, onError }: Options,
): WebhookLoop {
  const running = new Set<Promise<void>>();
  const perRealm = new Map<number, number>();
  const perBot = new Map<number, number>();
  let isStopped = false;
  let isHinted = false;
  let wake: () => void = () => undefined;

  const loop = (async () => {
    while (!isStopped) {
      isHinted = false;
      try {
        for (const bot of shuffled(await dueBots(delivery.database))) startSome(bot);
      } catch (error) {
        onError(error);
      }
      if (!isHinted) await sleep(longestSleepMs);
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

  function startSome(bot: DueBot): void {
    const room = Math.min(
      atOnce - running.size,
      atOncePerRealm - (perRealm.get(bot.realm_id) ?? 0),
      atOncePerBot - (perBot.get(bot.bot_id) ?? 0),
      bot.count,
    );
    for (let started = 0; started < room; started++) {
      change(bot, 1);
      const one = deliverOne(bot).finally(() => {
        running.delete(one);
        change(bot, -1);
      });
      running.add(one);
    }
  }

  async function deliverOne(bot: DueBot): Promise<void> {
    try {
      const row = await claim(delivery.database, bot);
      if (!row) return;
      onOutcome(await deliverWebhook(delivery, row));
      // After this one has ended, there is room for another one.
      setImmediate(wakeUp);
    } catch (error) {
      onError(error, { realm: bot.realm_id, bot: bot.bot_id });
    }
  }

  function change({ realm_id, bot_id }: DueBot, by: number): void {
    add(perRealm, realm_id, by);
    add(perBot, bot_id, by);
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

function add(counts: Map<number, number>, key: number, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
