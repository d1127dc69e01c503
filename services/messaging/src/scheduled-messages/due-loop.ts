import { type Database, sql } from '@natter/database';
import { z } from 'zod';
import type { Outcome } from './deliver.ts';

export interface DueLoop {
  /** Something is due at this time, in seconds since 1970. */
  hint(dueSeconds: number): void;
  stop(): Promise<void>;
}

export interface DueLoopOptions {
  database: Database;
  deliver: (realmId: number) => Promise<Outcome>;
  onError: (error: unknown) => void;
}

/** A hint can be lost, so this is the maximum sleep. */
const longestSleepMs = 1_000;
const idlePauseMs = 30;
const realmsAtOnce = 4;

const stateRow = z.object({ now: z.number(), next: z.number().nullable() });

/**
 * Sleeps until the next message is due by the database's clock, delivers due messages realm by realm, and sleeps again.
 */
export function startDueLoop({ database, deliver, onError }: DueLoopOptions): DueLoop {
  let isStopped = false;
  let wakeAt = 0;
  /** Difference between the database's clock and this process's monotonic clock, in seconds. */
  let clockDifference = 0;
  let wake: () => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;

  const loop = (async () => {
    while (!isStopped) {
      let sleepMs = longestSleepMs;
      try {
        const { now, next } = await database.one(sql.type(stateRow)`
          SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
            (SELECT extract(epoch FROM min(due_at))::float8 FROM messaging.scheduled_message WHERE state = 'waiting') AS next`);
        clockDifference = now - performance.now() / 1000;
        if (next !== null && next <= now) sleepMs = (await deliverAll()) ? 0 : idlePauseMs;
        else if (next !== null) sleepMs = Math.min((next - now) * 1000, longestSleepMs);
      } catch (error) {
        onError(error);
        sleepMs = 200 + Math.random() * 300;
      }
      await sleep(sleepMs);
    }
  })();

  return {
    hint: (dueSeconds) => {
      const at = (dueSeconds - clockDifference) * 1000;
      if (!Number.isFinite(at) || at >= wakeAt) return;
      clearTimeout(timer);
      wakeAt = at;
      timer = setTimeout(() => wake(), Math.max(at - performance.now(), 0));
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      wake();
      await loop;
    },
  };

  /**
   * Returns whether anything was delivered: if all is held by others or waits for another attempt, the next round may
   * be slow.
   */
  async function deliverAll(): Promise<boolean> {
    const realms = await database.any(sql.type(z.object({ realm_id: z.number() }))`
      SELECT DISTINCT realm_id FROM messaging.scheduled_message WHERE state = 'waiting' AND due_at <= clock_timestamp()`);
    const waiting = realms.map(({ realm_id }) => realm_id).sort(() => Math.random() - 0.5);
    let hasDelivered = false;
    const worker = async (): Promise<void> => {
      for (let realmId = waiting.pop(); realmId !== undefined && !isStopped; realmId = waiting.pop()) {
        try {
          let outcome = await deliver(realmId);
          while (outcome === 'more' && !isStopped) outcome = await deliver(realmId);
          if (outcome === 'done') hasDelivered = true;
        } catch (error) {
          onError(error);
        }
      }
    };
    await Promise.all(Array.from({ length: realmsAtOnce }, worker));
    return hasDelivered;
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (isStopped) return resolve();
      wake = resolve;
      wakeAt = performance.now() + ms;
      clearTimeout(timer);
      timer = setTimeout(resolve, ms);
    });
  }
}
