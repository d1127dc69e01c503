import type { NatsConnection } from '@nats-io/nats-core';
import { flushed } from './bus-connection.ts';

export interface ProcessWatch {
  /** Checks at once whether the process was stopped, instead of at the next interval. */
  look(): void;
  /** Whether this process stood still at some time since then, on the clock of `performance.now`. */
  stoodStillSince(at: number): boolean;
}

/** Notices that this process stood still: it was stopped, or one turn of its event loop took long. */
export function watchProcess(onStandstill: (begunAt: number) => void = () => undefined): ProcessWatch {
  let lookedAt = performance.now();
  let endedAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = performance.now();
    const before = lookedAt;
    lookedAt = now;
    if (now - before <= longMs) return;
    endedAt = now;
    onStandstill(before);
  };
  setInterval(look, lookEveryMs).unref();
  return {
    look,
    stoodStillSince(at) {
      look();
      return endedAt > at;
    },
  };
}

/**
 * Finds times during which this process was stopped. Calls that arrived meanwhile waited in the buffer of the connection,
 * but the deadline in a call is relative to the time at which it was sent.
 */
export interface Standstills {
  /**
   * Milliseconds that the caller of a call that is read now still waits. Undefined if the call may have been in the buffer for
   * longer than that: its caller may have given up, or repeated it elsewhere so long ago that the stored answer is deleted.
   * If the caller still waits, a probe returns that no process works on the call, and the caller repeats it.
   */
  remainingOf(waitsMs: number): number | undefined;
}

const lookEveryMs = 100;
/** A shorter standstill matters to no deadline. */
const longMs = 1_000;
/** How long to wait until what NATS sent before is read. */
const drainMs = 10_000;

export function watchStandstills(nats: NatsConnection): Standstills {
  /** The beginnings of the standstills whose calls may not all have been read yet. */
  const begun: number[] = [];
  const end = (): void => void begun.shift();
  const { look } = watchProcess((begunAt) => {
    begun.push(begunAt);
    // NATS answers in order, after everything that it sent before.
    flushed(nats, drainMs).then(end, end);
  });
  return {
    remainingOf(waitsMs) {
      look();
      const [since] = begun;
      const waitedMs = since === undefined ? 0 : performance.now() - since;
      return waitsMs < 2 * waitedMs ? undefined : waitsMs - waitedMs;
    },
  };
}
