import { WaitingTasks } from '@natter/service-kit';
import type { Tenant } from '../rate-limit/tenant.ts';

/** A part of a large body. */
interface Part {
  tenant: Tenant;
  /** Number of bytes that the socket delivered for this part; 0 for work on bytes that arrived before. */
  receivedBytes?: number;
}

/**
 * Takes turns between large bodies, part by part. Each connection that sends one could otherwise occupy a part of every
 * turn of the event loop, and other requests, which need several turns each, would wait for all of them each time.
 */
export interface BodyTurns {
  /**
   * Runs short, synchronous work on a part: at once if no other part was processed just now, otherwise in
   * the order of the realms and their users. Rejects with SERVICE_UNAVAILABLE if too many parts wait.
   */
  run<R>(part: Part, work: () => R): Promise<R>;
  readonly waiting: number;
}

const maxWaiting = 10_000;
/** Receiving data takes time before any work on it: milliseconds per byte. */
const receiveMsPerByte = 2e-6;
/** After each part, other work has this many times the duration of the part: so parts take a third of the time. */
const pauseFactor = 2;
/** A part that took longer was interrupted, for example because the process was stopped. */
const maxTookMs = 100;
/** A shorter pause ends with the present turn of the event loop, and counts towards the next one. */
const shortPauseMs = 2;

export function createBodyTurns(now: () => number = () => performance.now()): BodyTurns {
  const tasks = new WaitingTasks(maxWaiting);
  /** End of the pause after the last part, in the milliseconds of `now`. No part is processed before. */
  let pausedUntil = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || tasks.size === 0) return;
    isScheduled = true;
    const startNext = (): void => {
      isScheduled = false;
      tasks.startNext();
      schedule();
    };
    const pauseMs = pausedUntil - now();
    if (pauseMs < shortPauseMs) setImmediate(startNext);
    else setTimeout(startNext, pauseMs);
  }

  function timed<R>(receivedBytes: number, work: () => R): R {
    const begun = now();
    try {
      return work();
    } finally {
      const tookMs = now() - begun + receivedBytes * receiveMsPerByte;
      pausedUntil = Math.max(pausedUntil, begun) + Math.min(tookMs, maxTookMs) * (1 + pauseFactor);
    }
  }

  return {
    async run<R>({ tenant, receivedBytes = 0 }: Part, work: () => R): Promise<R> {
      if (tasks.size === 0 && now() >= pausedUntil) return timed(receivedBytes, work);
      let done: () => R = () => {
        throw new Error('the turn has not begun');
      };
      const begin = (): void => {
        try {
          const result = timed(receivedBytes, work);
          done = () => result;
        } catch (error) {
          done = () => {
            throw error;
          };
        }
      };
      const turn = tasks.wait(tenant, begin);
      schedule();
      await turn;
      return done();
    },
    get waiting() {
      return tasks.size;
    },
  };
}
