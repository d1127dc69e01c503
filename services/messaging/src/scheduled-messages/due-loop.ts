import { type Database, shuffled, sql, untilDeadline, withDeadline } from '@natter/database';
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
  /** A batch is given up after this time. */
  batchMs?: number;
}

/** A hint can be lost, so this is the maximum sleep. */
const longestSleepMs = 1_000;
const idlePauseMs = 30;
/** Batches at a time. One that takes longer than `slowMs` waits for something, and no longer counts. */
const realmsAtOnce = 4;
const slowMs = 1_000;
/** Batches at a time with those that do not count: fewer than the connections to the database. */
const mostAtOnce = 7;
const defaultBatchMs = 60_000;

const failurePauseMs = (): number => 200 + Math.random() * 300;
/** A realm whose batch failed late waits as long as the batch took, at most this time, so that others get its place. */
const longestPauseMs = 10_000;
/** A deactivated realm with due messages is asked again after this time. */
const closedPauseMs = 15_000;

const stateRow = z.object({ now: z.number(), next: z.number().nullable() });

/**
 * Sleeps until the next message is due by the database's clock, begins a batch of each realm with due messages, and sleeps
 * again. A realm with many messages, or slow ones, keeps no other waiting: its next batch begins after those of others.
 */
export function startDueLoop({ database, deliver, onError, batchMs = defaultBatchMs }: DueLoopOptions): DueLoop {
  let isStopped = false;
  let wakeAt = 0;
  /** Difference between the database's clock and this process's monotonic clock, in seconds. */
  let clockDifference = 0;
  let wake: () => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Realms whose batch is being delivered. */
  const running = new Map<number, Promise<void>>();
  /** Batches that count against `realmsAtOnce`. */
  let counted = 0;
  /** Ends the wait for a place. */
  let free: () => void = () => undefined;
  /** Realms whose batch failed, and deactivated ones, with the time of the next attempt. */
  const paused = new Map<number, number>();
  /** Whether a batch has sent something since the last round. */
  let hasDelivered = false;

  const loop = (async () => {
    while (!isStopped) {
      let sleepMs = longestSleepMs;
      try {
        for (const [id, until] of paused) if (until < performance.now()) paused.delete(id);
        const { now, next } = await database.one(sql.type(stateRow)`
          SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
            (SELECT extract(epoch FROM min(due_at))::float8 FROM messaging.scheduled_message
             WHERE state = 'waiting' AND realm_id <> ALL(${sql.array([...paused.keys()], 'int4')})) AS next`);
        clockDifference = now - performance.now() / 1000;
        if (next !== null && next <= now) {
          await beginBatches();
          // If all is held by others or waits for another attempt, the next round may be slow.
          sleepMs = hasDelivered ? 0 : idlePauseMs;
          hasDelivered = false;
        } else sleepMs = Math.min(next === null ? longestSleepMs : (next - now) * 1000, untilNextAttempt());
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
      free();
      await loop;
      await Promise.all(running.values());
    },
  };

  async function beginBatches(): Promise<void> {
    const realms = await database.any(sql.type(z.object({ realm_id: z.number() }))`
      SELECT DISTINCT realm_id FROM messaging.scheduled_message WHERE state = 'waiting' AND due_at <= clock_timestamp()`);
    const waiting = realms.map(({ realm_id }) => realm_id).filter((id) => !running.has(id) && !paused.has(id));
    for (const realmId of shuffled(waiting)) {
      await untilFree();
      if (isStopped) return;
      running.set(realmId, deliverBatch(realmId));
    }
  }

  function untilNextAttempt(): number {
    let next = performance.now() + longestSleepMs;
    for (const until of paused.values()) next = Math.min(next, until);
    return Math.max(next - performance.now(), 0);
  }

  async function untilFree(): Promise<void> {
    while (!isStopped && (counted >= realmsAtOnce || running.size >= mostAtOnce))
      await new Promise<void>((resolve) => {
        free = resolve;
      });
  }

  /** Takes a place; the returned function gives it back, once. */
  function count(): () => void {
    let places = 1;
    counted += places;
    return () => {
      counted -= places;
      places = 0;
      free();
    };
  }

  async function deliverBatch(realmId: number): Promise<void> {
    const uncount = count();
    const slow = setTimeout(uncount, slowMs);
    const begun = performance.now();
    try {
      const outcome = await withDeadline(batchMs, () => untilDeadline(deliver(realmId)));
      if (outcome === 'closed') paused.set(realmId, performance.now() + closedPauseMs);
      if (outcome === 'closed' || outcome === 'idle') return;
      hasDelivered = true;
      wake();
    } catch (error) {
      onError(error);
      const tookMs = performance.now() - begun;
      paused.set(realmId, performance.now() + failurePauseMs() + Math.min(tookMs, longestPauseMs));
    } finally {
      clearTimeout(slow);
      running.delete(realmId);
      uncount();
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
