import { ChatError } from '@natter/contracts';
import { currentDeadline, type Deadline, tooLate } from './deadline.ts';
import { FairQueue, type Tenant } from './fair-queue.ts';

/** Tasks that wait for their turn. A task is removed at its deadline, so the size counts tasks that can still start. */
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

  /** Number of tasks of a user, and of users of the realm who have any. */
  sizesOf(tenant: Tenant): { own: number; users: number } {
    return this.#queue.sizesOf(tenant);
  }

  /**
   * Resolves after `startNext` chose the task and called `begin`. Rejects with SERVICE_UNAVAILABLE at the deadline, or if
   * the realm has no room.
   */
  wait(tenant: Tenant, begin: () => void, deadline: Deadline | undefined = currentDeadline()): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = this.#queue.push(tenant, () => {
        stop?.();
        begin();
        resolve();
      });
      if (!leave) return reject(overloaded('too many tasks wait'));
      const stop = deadline?.onEnd(() => {
        leave();
        reject(tooLate());
      });
    });
  }

  /** Starts the next task of the realms and users that may have a turn; returns whether there was one. */
  startNext(mayHaveTurn?: (realmId: number) => boolean, isUser?: (userId: number) => boolean): boolean {
    const start = this.#queue.shift(mayHaveTurn, isUser);
    start?.();
    return start !== undefined;
  }
}

export const overloaded = (reason: string): ChatError =>
  new ChatError('SERVICE_UNAVAILABLE', 'The server is busy. Try again in a moment.', {}, { cause: new Error(reason) });
