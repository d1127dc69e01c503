import { randomUUID } from 'node:crypto';
import {
  type Actor,
  eventQueueOperations,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
} from '@natter/contracts';
import { generationKey, type LogRedis, promptly, queueKey, queueSubject } from '@natter/event-log';
import { type Bus, createSharedCache, heapBytes, stringBytes } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { badQueue, type QueueLife } from './queue-life.ts';

export interface QueueOpening {
  /**
   * The queue's record and the number of this poll: microseconds of Redis's clock, or of this process's clock without
   * Redis. Numbers increase over all gateways, so that the newest of two polls survives. A gateway that may hold an
   * older poll is notified.
   */
  open(actor: Actor, meta: RequestMeta, queueId: string): Promise<[QueueRecord, number]>;
  /** Records of an earlier epoch are read again. */
  begunEpoch(realmId: number, epoch: number): void;
  /** The cached record may outlive the queue, if Redis refused to delete it. */
  ended(queueId: string): void;
}

/** Time for which the ids of ended queues are kept: longer than Redis caches a record of a queue. */
const endedMs = 120_000;

export function createQueueOpening({
  bus,
  log,
  life,
  maxQueues,
  maxRecordBytes,
}: {
  bus: Bus;
  log: LogRedis;
  life: QueueLife;
  maxQueues: number;
  maxRecordBytes: number;
}): QueueOpening {
  const epochs = new Map<number, number>();
  /** Parsed records with their text, by the id of their queue. Clients choose the length of a filter. */
  const records = createSharedCache<{ text: string; record: QueueRecord }>({
    maxBytes: maxRecordBytes,
    // The terms of the narrow are prepared when an event is compared with them.
    sizeOf: ({ text, record }, queueId) =>
      stringBytes(queueId) + stringBytes(text) + heapBytes(record) + 2 * heapBytes(record.narrow),
  });
  const ended = new LRUCache<string, true>({ max: maxQueues, ttl: endedMs });
  const gatewayId = randomUUID();

  return {
    async open(actor, meta, queueId) {
      const { realmId } = actor;
      const keys: [string, string] = [queueKey(realmId, queueId), generationKey(realmId, queueId)];
      const count = () => promptly(log.pollScript(keys, [actor.userId, gatewayId, 3_600])).catch(() => undefined);
      let counted = await count();
      const cached = counted?.[0] ?? null;
      const known = cached === null ? undefined : recordOf(realmId, queueId, cached);
      const isUsable = known !== undefined && !ended.has(queueId) && known.epoch >= (epochs.get(realmId) ?? 0);
      const queue = isUsable ? known : await bus.call(eventQueueOperations.getQueue, { queue_id: queueId }, { meta });
      // Another user's queue is answered like one that does not exist.
      if (queue.user_id !== actor.userId) throw badQueue(queueId);
      // A queue that may have expired is extended before the poll. Others are extended during the poll, so that an outage of
      // event-queue does not delay it.
      if (!life.cannotHaveExpired(queue)) await life.keep(queue, meta);
      if (counted?.[1] === 0) counted = await count();
      const generation = counted?.[1] || Date.now() * 1_000;
      if (counted?.[2] !== gatewayId) bus.publish(queueSubject(realmId), JSON.stringify({ queueId, generation }));
      return [queue, generation];
    },
    begunEpoch: (realmId, epoch) => void epochs.set(realmId, epoch),
    ended: (queueId) => void ended.set(queueId, true),
  };

  function recordOf(realmId: number, queueId: string, text: string): QueueRecord | undefined {
    const known = records.get(realmId, queueId);
    if (known?.text === text) return known.record;
    const record = queueRecordSchema.safeParse(JSON.parse(text)).data;
    if (record) records.set(realmId, queueId, { text, record });
    return record;
  }
}
