import { ChatError, isRefusal } from '@natter/contracts';
import {
  createPatience,
  currentDeadline,
  isConnectionFailure,
  isRefusedForNow,
  pause,
  type Tenant,
  WaitingTasks,
  withDeadline,
} from '@natter/database';

/** Repeats requests that PostgreSQL could not serve, so that a short outage delays them instead of failing them. */
export interface Recovery {
  /**
   * Runs `work`, and repeats it for some seconds while it fails for a reason that passes, as long as the request's patience
   * lasts. Between two attempts it holds neither a connection nor a lane. `outcome`: `unknown` if a lost connection may have
   * committed a change that another attempt would repeat.
   */
  run<R>(work: (attempt: number) => Promise<R>, options: { tenant: Tenant; outcome: 'known' | 'unknown' }): Promise<R>;
}

/** Interval of attempts while all fail; each attempt that succeeds starts two others. */
const probeMs = 75;
/** Maximum number of waiting requests; others fail at once. A realm gets at most half of the remaining places. */
const maxWaiting = 2_000;

export function createRecovery(): Recovery {
  const waiting = new WaitingTasks(maxWaiting);
  let isProbing = false;

  function probe(): void {
    if (isProbing || waiting.size === 0) return;
    isProbing = true;
    setTimeout(
      () => {
        isProbing = false;
        waiting.startNext();
        probe();
      },
      probeMs * (0.7 + Math.random() * 0.6),
    );
  }

  function recovered(): void {
    for (let count = 0; count < 2; count++) waiting.startNext();
  }

  /** Resolves when the request may run again. Rejects if its time is over, or if too many wait. */
  async function turn(tenant: Tenant, remainingMs: number): Promise<void> {
    await withDeadline(remainingMs, async () => {
      const started = waiting.wait(tenant, () => undefined);
      probe();
      await started;
    });
  }

  return {
    async run(work, { tenant, outcome }) {
      const patience = currentDeadline()?.patience ?? createPatience();
      for (let attempt = 0; ; attempt++) {
        try {
          const result = await work(attempt);
          if (attempt > 0) recovered();
          return result;
        } catch (error) {
          const trouble = troubleOf(error);
          const mayRepeat = trouble === 'refusal' || (trouble === 'connection' && outcome === 'known');
          if (attempt > 0 && isRefusal(error)) recovered();
          if (!mayRepeat) throw error;
          const remainingMs = patience.remainingMs();
          if (remainingMs === 0) throw error;
          // Usually only one connection was lost, so the first attempt follows after a short pause.
          const isFirst = attempt === 0 && trouble === 'connection';
          const isStarted = (isFirst ? pause(20) : turn(tenant, remainingMs)).then(
            () => true,
            () => false,
          );
          if (!(await isStarted)) throw error;
        }
      }
    },
  };
}

/** `refusal`: nothing was committed. `connection`: the outcome of a commit is unknown. */
function troubleOf(error: unknown): 'refusal' | 'connection' | undefined {
  const cause = error instanceof ChatError ? error.cause : error;
  if (isRefusedForNow(cause)) return 'refusal';
  return error instanceof ChatError && isConnectionFailure(cause) ? 'connection' : undefined;
}
