import { randomUUID } from 'node:crypto';
import {
  type Actor,
  eventQueueOperations,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
} from '@natter/contracts';
import { generationKey, type LogRedis, queueKey, queueSubject } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { badQueue, type QueueLife } from './queue-life.ts';

export interface QueueOpening {
  /**
   * The queue's record and the number of this poll: microseconds of the clock of Redis, or of this process without Redis. Numbers
   * grow over all gateways, so that the newest of two polls survives. A gateway that may hold an older poll is notified.
   */
  open(actor: Actor, meta: RequestMeta, queueId: string): Promise<[QueueRecord, number]>;
  /** Records of an earlier epoch are read again. */
  begunEpoch(realmId: number, epoch: number): void;
}

const maxRecords = 100_000;

export function createQueueOpening({ bus, log, life }: { bus: Bus; log: LogRedis; life: QueueLife }): QueueOpening {
  const epochs = new Map<number, number>();
  /** Records as they were last read, by their text. */
  const records = new LRUCache<string, { text: string; record: QueueRecord }>({ max: maxRecords });
  const gatewayId = randomUUID();

  return {
    async open(actor, meta, queueId) {
      const { realmId } = actor;
      const keys: [string, string] = [queueKey(realmId, queueId), generationKey(realmId, queueId)];
      const count = () => log.pollScript(keys, [actor.userId, gatewayId, 3_600]).catch(() => undefined);
      let counted = await count();
      const cached = counted?.[0] ?? null;
      const known = cached === null ? undefined : recordOf(queueId, cached);
      const isUsable = known !== undefined && known.epoch >= (epochs.get(realmId) ?? 0);
      const queue = isUsable ? known : await bus.call(eventQueueOperations.getQueue, { queue_id: queueId }, { meta });
      // A queue of somebody else answers like one that does not exist.
      if (queue.user_id !== actor.userId) throw badQueue(queueId);
      await life.keep(queue, meta);
      if (!counted?.[1]) counted = await count();
      const generation = counted?.[1] || Date.now() * 1_000;
      if (counted?.[2] !== gatewayId) bus.publish(queueSubject(realmId), JSON.stringify({ queueId, generation }));
      return [queue, generation];
    },
    begunEpoch: (realmId, epoch) => void epochs.set(realmId, epoch),
  };

  function recordOf(queueId: string, text: string): QueueRecord | undefined {
    const known = records.get(queueId);
    if (known?.text === text) return known.record;
    const record = queueRecordSchema.safeParse(JSON.parse(text)).data;
    if (record) records.set(queueId, { text, record });
    return record;
  }
}
