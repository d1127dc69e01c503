import { ChatError, eventQueueOperations, type QueueRecord, queueRecordSchema } from '@natter/contracts';
import { sql } from '@natter/database';
import { queueKey, queueSubject } from '@natter/event-log';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

const cacheSeconds = 60;

export function queueHandlers({ database, redis }: Owner, bus: Bus): Handlers {
  return [
    handle(eventQueueOperations.getQueue, async ({ meta }, { queue_id }) => {
      const row = await database.maybeOne(sql.type(z.object({ record: queueRecordSchema }))`
        SELECT q.record FROM event_queue.queue q, LATERAL log.position(q.realm_id) p
        WHERE q.queue_id = ${queue_id} AND q.realm_id = ${meta.realmId} AND q.expires_at > now() AND q.epoch = p.epoch`);
      if (!row) throw badQueue(queue_id);
      // Only a cache: without Redis the next poll asks again.
      await redis.redis
        .set(queueKey(meta.realmId, queue_id), JSON.stringify(row.record satisfies QueueRecord), 'EX', cacheSeconds)
        .catch(() => undefined);
      return row.record;
    }),

    handle(eventQueueOperations.deleteQueue, async ({ actor }, { queue_id }) => {
      const deleted = await database.run(sql.unsafe`
        DELETE FROM event_queue.queue WHERE queue_id = ${queue_id} AND realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND expires_at > now()`);
      if (deleted === 0) throw badQueue(queue_id);
      await redis.redis.del(queueKey(actor.realmId, queue_id)).catch(() => undefined);
      bus.publish(queueSubject(actor.realmId), JSON.stringify({ queueId: queue_id, gone: true }));
      return {};
    }),

    handle(eventQueueOperations.touchQueues, async ({ meta }, { queue_ids }) => {
      const alive = await database.any(sql.type(z.object({ queue_id: z.string() }))`
        UPDATE event_queue.queue SET expires_at = now() + idle_timeout
        WHERE realm_id = ${meta.realmId} AND queue_id = ANY(${sql.array(queue_ids, 'text')}) AND expires_at > now() RETURNING queue_id`);
      const living = new Set(alive.map((row) => row.queue_id));
      return { gone: queue_ids.filter((id) => !living.has(id)) };
    }),
  ];
}

const badQueue = (queueId: string): ChatError =>
  new ChatError('BAD_EVENT_QUEUE_ID', `Bad event queue ID: ${queueId}`, { queue_id: queueId });
