import { ChatError, eventQueueOperations, type QueueRecord, type RequestMeta } from '@natter/contracts';
import { apartFromRequest, type Bus, untilDeadline } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';

export interface QueueLife {
  /** Extends the queue's life when a quarter of it has passed; throws BAD_EVENT_QUEUE_ID if it has ended. */
  keep(queue: QueueRecord, meta: RequestMeta): Promise<void>;
  /** Whether the queue cannot have expired, because this process extended it less than its idle time ago. */
  cannotHaveExpired(queue: QueueRecord): boolean;
  /** Time until `keep` must be called again, in milliseconds. */
  dueIn(queue: QueueRecord): number;
}

const gatherMs = 20;
const maxBatch = 1_000;

interface Batch {
  meta: RequestMeta;
  waiting: Map<string, { resolve: (isAlive: boolean) => void; reject: (error: unknown) => void }[]>;
}

/** Postgres alone decides on expiry. Queues of a realm that are due together are extended in one statement. */
export function createQueueLife(bus: Bus, maxQueues: number): QueueLife {
  /** When a queue was extended, by the monotonic clock: a wall clock that is set back would let polled queues expire. */
  const extended = new LRUCache<string, number>({ max: maxQueues });
  const batches = new Map<number, Batch>();

  async function flush(realmId: number): Promise<void> {
    const batch = batches.get(realmId);
    batches.delete(realmId);
    if (!batch) return;
    const ids = [...batch.waiting.keys()];
    for (let from = 0; from < ids.length; from += maxBatch) {
      const some = ids.slice(from, from + maxBatch);
      const waiters = (id: string) => batch.waiting.get(id) ?? [];
      try {
        const touch = () => bus.call(eventQueueOperations.touchQueues, { queue_ids: some }, { meta: batch.meta });
        const { gone } = await apartFromRequest(touch);
        const ended = new Set(gone);
        for (const id of some) for (const { resolve } of waiters(id)) resolve(!ended.has(id));
      } catch (error) {
        for (const id of some) for (const { reject } of waiters(id)) reject(error);
      }
    }
  }

  const isAlive = (queue: QueueRecord, meta: RequestMeta): Promise<boolean> =>
    new Promise((resolve, reject) => {
      let batch = batches.get(queue.realm_id);
      if (!batch) {
        batch = { meta, waiting: new Map() };
        batches.set(queue.realm_id, batch);
        setTimeout(() => void flush(queue.realm_id), gatherMs);
      }
      const waiting = batch.waiting.get(queue.queue_id) ?? [];
      waiting.push({ resolve, reject });
      batch.waiting.set(queue.queue_id, waiting);
    });

  /** Milliseconds until this share of the idle time has passed since the queue was extended. */
  const leftOf = (queue: QueueRecord, share: number): number =>
    (extended.get(queue.queue_id) ?? Number.NEGATIVE_INFINITY) +
    queue.idle_timeout_seconds * 1_000 * share -
    performance.now();
  const dueIn = (queue: QueueRecord): number => leftOf(queue, 0.25);

  return {
    dueIn,
    cannotHaveExpired: (queue) => leftOf(queue, 1) > 0,
    async keep(queue, meta) {
      if (dueIn(queue) > 0) return;
      const at = performance.now();
      if (!(await untilDeadline(isAlive(queue, meta)))) throw badQueue(queue.queue_id);
      extended.set(queue.queue_id, at);
    },
  };
}

export const badQueue = (queueId: string): ChatError =>
  new ChatError('BAD_EVENT_QUEUE_ID', `Bad event queue ID: ${queueId}`, { queue_id: queueId });
