import type { NatsConnection } from '@nats-io/nats-core';
import { flushed } from './bus-connection.ts';

/**
 * Notices that this process stood still: it was stopped, or one turn of its event loop took long. NATS wrote calls into the
 * buffer of its connection meanwhile, and a call says how long its caller waits from the time when it was sent.
 */
export interface Standstills {
  /**
   * Milliseconds that the caller of a call that is read now still waits. Undefined if the call may have been in the buffer for
   * longer than that: its caller may have given up, or repeated it elsewhere so long ago that the stored answer is deleted.
   * If the caller does wait, it learns that no process works on the call, and repeats it.
   */
  remainingOf(waitsMs: number): number | undefined;
}

const lookEveryMs = 100;
/** A shorter standstill matters to no deadline. */
const longMs = 1_000;
/** How long to wait until what NATS sent before is read. */
const drainMs = 10_000;

export function watchStandstills(nats: NatsConnection): Standstills {
  let lookedAt = performance.now();
  /** When the first standstill began whose calls may not all have been read yet. */
  let since: number | undefined;
  let draining = 0;
  const end = (): void => {
    draining--;
    if (draining === 0) since = undefined;
  };
  const look = (): void => {
    const now = performance.now();
    const before = lookedAt;
    lookedAt = now;
    if (now - before <= longMs) return;
    since ??= before;
    draining++;
    flushed(nats, drainMs).then(end, end);
  };
  setInterval(look, lookEveryMs).unref();
  return {
    remainingOf(waitsMs) {
      look();
      const waitedMs = since === undefined ? 0 : performance.now() - since;
      return waitsMs < 2 * waitedMs ? undefined : waitsMs - waitedMs;
    },
  };
}
