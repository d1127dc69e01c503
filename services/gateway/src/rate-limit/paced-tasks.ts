import { Decaying, overloaded, type Tenant, WaitingTasks } from '@natter/service-kit';

interface Pace {
  /** Time from which at least one task of the realm has always been waiting. */
  since: number;
  /** Number of tasks that began recently. */
  begun: Decaying;
}

const maxWaiting = 10_000;
/** A task is refused if it would wait for longer than this behind other tasks of its user. */
const maxWaitMs = 5_000;
/** No task is refused while fewer tasks of its realm wait. */
const few = 64;
/** No task is refused until tasks of its realm have waited for this long, because many clients may send at once. */
const unknownMs = 1_000;
const halfLifeMs = 2_000;

/**
 * Tasks that wait for their turn. A task is refused at once if the waiting tasks of its user would take too long at the pace
 * at which tasks of the realm begin at present.
 */
export class PacedTasks {
  readonly #tasks = new WaitingTasks(maxWaiting);
  readonly #paces = new Map<number, Pace>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#tasks.size;
  }

  sizeOf(realmId: number): number {
    return this.#tasks.sizeOf(realmId);
  }

  /** Whether a task of the user would wait too long behind others of the same user. */
  refuses(tenant: Tenant): boolean {
    const { own, users } = this.#tasks.sizesOf(tenant);
    const pace = this.#paces.get(tenant.realmId);
    if (own === 0 || !pace || this.sizeOf(tenant.realmId) < few || this.#now() - pace.since < unknownMs) return false;
    // The users of a realm take turns.
    return (own + 1) * users > pace.begun.perMs * maxWaitMs;
  }

  /** Like `WaitingTasks.wait`. Rejects at once if the task would wait too long. */
  async wait(tenant: Tenant, begin: () => void): Promise<void> {
    if (this.refuses(tenant)) throw overloaded('the user sends more than may begin');
    const { realmId } = tenant;
    if (this.sizeOf(realmId) === 0)
      this.#paces.set(realmId, { since: this.#now(), begun: new Decaying(this.#now, halfLifeMs) });
    try {
      await this.#tasks.wait(tenant, () => {
        this.#paces.get(realmId)?.begun.add(1);
        begin();
      });
    } finally {
      if (this.sizeOf(realmId) === 0) this.#paces.delete(realmId);
    }
  }

  startNext(mayHaveTurn: (realmId: number) => boolean): boolean {
    return this.#tasks.startNext(mayHaveTurn);
  }
}
