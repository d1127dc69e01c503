import { ChatError } from '@natter/contracts';
import { currentDeadline, type Deadline, tooLate } from './deadline.ts';
import { FairQueue, type Owner } from './fair-queue.ts';

/** Tasks that wait for their turn. A task whose deadline ends leaves at once: only tasks that may still start are counted. */
export class WaitingTasks {
  readonly #queue: FairQueue<() => void>;

  constructor(maxSize: number) {
    this.#queue = new FairQueue(maxSize);
  }

  get size(): number {
    return this.#queue.size;
  }

  sizeOf(realmId: number): number {
    return this.#queue.sizeOf(realmId);
  }

  /**
   * Resolves when `startNext` chose the task, after it called `begin`. Rejects with SERVICE_UNAVAILABLE at the deadline, and where the
   * realm has no room.
   */
  wait(owner: Owner, begin: () => void, deadline: Deadline | undefined = currentDeadline()): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = this.#queue.push(owner, () => {
        stop?.();
        begin();
        resolve();
      });
      if (!leave) return reject(overloaded('too much waits'));
      const stop = deadline?.onEnd(() => {
        leave();
        reject(tooLate());
      });
    });
  }

  /** Starts the next task of the realms that may have a turn. False: there is none. */
  startNext(mayHaveTurn?: (realmId: number) => boolean): boolean {
    const start = this.#queue.shift(mayHaveTurn);
    start?.();
    return start !== undefined;
  }
}

export const overloaded = (reason: string): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is busy. Try again in a moment.', {}, { cause: new Error(reason) });
