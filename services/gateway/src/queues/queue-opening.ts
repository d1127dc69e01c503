import { randomUUID } from 'node:crypto';
import {
  type Actor,
  eventQueueOperations,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
} from '@natter/contracts';
import { generationKey, type LogRedis, promptly, queueKey, queueSubject } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
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

/** Maximum bytes of the cached records, because clients choose the length of a filter. A usual record counts as 3 KB. */
const recordsBytes = 256 * 1024 * 1024;
/** Longer than Redis keeps a record. */
const endedMs = 120_000;

export function createQueueOpening({
  bus,
  log,
  life,
  maxQueues,
}: {
  bus: Bus;
  log: LogRedis;
  life: QueueLife;
  maxQueues: number;
}): QueueOpening {
  const epochs = new Map<number, number>();
  /** Parsed records by their text. */
  const records = new LRUCache<string, { text: string; record: QueueRecord }>({
    max: maxQueues,
    maxSize: recordsBytes,
    sizeCalculation: ({ text }) => 4 * text.length + 1_000,
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
      const known = cached === null ? undefined : recordOf(queueId, cached);
      const isUsable = known !== undefined && !ended.has(queueId) && known.epoch >= (epochs.get(realmId) ?? 0);
      const queue = isUsable ? known : await bus.call(eventQueueOperations.getQueue, { queue_id: queueId }, { meta });
      // Another user's queue is answered like one that does not exist.
      if (queue.user_id !== actor.userId) throw badQueue(queueId);
      // Otherwise the poll extends it while it is served, so that an outage of event-queue does not delay it.
      if (!life.cannotHaveExpired(queue)) await life.keep(queue, meta);
      if (counted?.[1] === 0) counted = await count();
      const generation = counted?.[1] || Date.now() * 1_000;
      if (counted?.[2] !== gatewayId) bus.publish(queueSubject(realmId), JSON.stringify({ queueId, generation }));
      return [queue, generation];
    },
    begunEpoch: (realmId, epoch) => void epochs.set(realmId, epoch),
    ended: (queueId) => void ended.set(queueId, true),
  };

  function recordOf(queueId: string, text: string): QueueRecord | undefined {
    const known = records.get(queueId);
    if (known?.text === text) return known.record;
    const record = queueRecordSchema.safeParse(JSON.parse(text)).data;
    if (record) records.set(queueId, { text, record });
    return record;
  }
}
