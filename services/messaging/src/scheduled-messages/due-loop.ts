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

const failurePauseMs = (): number => 200 + Math.random() * 300;

const stateRow = z.object({ now: z.number(), next: z.number().nullable() });

/**
 * Sleeps until the next message is due by the database's clock, begins a batch of each realm with due messages, and sleeps
 * again. A realm with many messages, or slow ones, keeps no other waiting: its next batch begins after those of others.
 */
export function startDueLoop({ database, deliver, onError }: DueLoopOptions): DueLoop {
  let isStopped = false;
  let wakeAt = 0;
  /** Difference between the database's clock and this process's monotonic clock, in seconds. */
  let clockDifference = 0;
  let wake: () => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Realms whose batch is being delivered. */
  const running = new Map<number, Promise<void>>();
  /** Realms whose batch failed, with the time of the next attempt. */
  const failed = new Map<number, number>();
  /** Whether a batch has sent something since the last round. */
  let hasDelivered = false;

  const loop = (async () => {
    while (!isStopped) {
      let sleepMs = longestSleepMs;
      try {
        const { now, next } = await database.one(sql.type(stateRow)`
          SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
            (SELECT extract(epoch FROM min(due_at))::float8 FROM messaging.scheduled_message WHERE state = 'waiting') AS next`);
        clockDifference = now - performance.now() / 1000;
        if (next !== null && next <= now) {
          await beginBatches();
          // If all is held by others or waits for another attempt, the next round may be slow.
          sleepMs = hasDelivered ? 0 : idlePauseMs;
          hasDelivered = false;
        } else if (next !== null) sleepMs = Math.min((next - now) * 1000, longestSleepMs);
      } catch (error) {
        onError(error);
        sleepMs = failurePauseMs();
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
      await Promise.all(running.values());
    },
  };

  async function beginBatches(): Promise<void> {
    const realms = await database.any(sql.type(z.object({ realm_id: z.number() }))`
      SELECT DISTINCT realm_id FROM messaging.scheduled_message WHERE state = 'waiting' AND due_at <= clock_timestamp()`);
    for (const [id, until] of failed) if (until < performance.now()) failed.delete(id);
    const waiting = realms.map(({ realm_id }) => realm_id).filter((id) => !running.has(id) && !failed.has(id));
    for (const realmId of waiting.sort(() => Math.random() - 0.5)) {
      if (running.size >= realmsAtOnce) await Promise.race(running.values());
      if (isStopped) return;
      running.set(realmId, deliverBatch(realmId));
    }
  }

  async function deliverBatch(realmId: number): Promise<void> {
    try {
      if ((await deliver(realmId)) === 'idle') return;
      hasDelivered = true;
      wake();
    } catch (error) {
      onError(error);
      failed.set(realmId, performance.now() + failurePauseMs());
    } finally {
      running.delete(realmId);
    }
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
