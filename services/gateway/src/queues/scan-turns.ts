import { type Idle, withDeadline } from '@natter/service-kit';
import type { InTurn } from '../rate-limit/in-turn.ts';
import type { Tenant } from '../rate-limit/tenant.ts';

/** The turns of one poll. */
interface PollTurns {
  /** Runs `work` in a turn, unless the poll is over before. Throws SERVICE_UNAVAILABLE if it gets no turn in time. */
  run(work: () => Promise<void>): Promise<void>;
  /** The poll is over: it waits for no turn any more. */
  leave(): void;
}

/**
 * Long scans of the log pass the lanes of expensive requests like any other request, one scan of a queue at a time: the
 * next one continues where the previous one stopped.
 */
export interface ScanTurns {
  of(poll: { queueId: string; tenant: Tenant; isOver: () => boolean; idle: Idle }): PollTurns;
}

const turnMs = 15_000;

export function createScanTurns(inTurn: InTurn): ScanTurns {
  /** The last scan of each queue that has a turn, or waits for one. */
  const last = new Map<string, Promise<void>>();

  function alone(queueId: string, work: () => Promise<void>): Promise<void> {
    const before = last.get(queueId);
    const mine = (before ? before.catch(() => undefined).then(work) : work()).finally(() => {
      if (last.get(queueId) === mine) last.delete(queueId);
    });
    last.set(queueId, mine);
    return mine;
  }

  return {
    of({ queueId, tenant, isOver, idle }) {
      let cancel: () => void = () => undefined;
      return {
        leave: () => cancel(),
        run: (work) =>
          // The fair share charges the turn.
          idle(
            alone(queueId, async () => {
              if (isOver()) return;
              await withDeadline(turnMs, (deadline) => {
                cancel = () => deadline.cancel();
                return inTurn(tenant, work);
              }).catch((error: unknown) => {
                if (!isOver()) throw error;
              });
            }),
          ),
      };
    },
  };
}
