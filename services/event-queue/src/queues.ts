import { ChatError, eventQueueOperations, type QueueRecord, queueRecordSchema } from '@natter/contracts';
import { sql, together } from '@natter/database';
import { type LogRedis, queueKey, queueSubject } from '@natter/event-log';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { outageSeconds } from './expiry.ts';

const cacheSeconds = 60;
const idRow = z.object({ queue_id: z.string() });

/**
 * While the system was away nothing expires: the mark stands still then, and what lived at it lives on, as `expireQueues` will
 * say once it is back.
 */
const lives = sql.fragment`expires_at > (
  SELECT CASE WHEN at < now() - make_interval(secs => ${outageSeconds}) THEN at ELSE now() END FROM event_queue.alive)`;

/** Only a cache: without Redis the next poll asks again. */
export async function remember({ redis }: LogRedis, record: QueueRecord): Promise<void> {
  const key = queueKey(record.realm_id, record.queue_id);
  await redis.set(key, JSON.stringify(record), 'EX', cacheSeconds).catch(() => undefined);
}

export function queueHandlers({ database, unitOfWork, redis }: Owner, bus: Bus): Handlers {
  // After a restart of gateways, or without Redis, all clients ask at once.
  const find = together(async (asked: { realmId: number; queueId: string }[]) => {
    const rows = await database.any(sql.type(z.object({ record: queueRecordSchema }))`
      SELECT q.record FROM ${sql.unnest(
        asked.map(({ realmId, queueId }) => [realmId, queueId]),
        ['int4', 'text'],
      )} AS a (realm_id, queue_id)
      JOIN event_queue.queue q ON q.queue_id = a.queue_id AND q.realm_id = a.realm_id, LATERAL log.position(q.realm_id) p
      WHERE ${lives} AND q.epoch = p.epoch`);
    const found = new Map(rows.map(({ record }) => [record.queue_id, record]));
    return asked.map(({ realmId, queueId }) => {
      const record = found.get(queueId);
      return record?.realm_id === realmId ? record : undefined;
    });
  });
  return [
    handle(eventQueueOperations.getQueue, async ({ meta }, { queue_id }) => {
      const record = await find({ realmId: meta.realmId, queueId: queue_id });
      if (!record) throw badQueue(queue_id);
      await remember(redis, record);
      return record;
    }),

    handle(eventQueueOperations.deleteQueue, async ({ actor, claim }, { queue_id }) => {
      const answer = await unitOfWork({ realmId: actor.realmId, schema: 'event_queue', claim }, async (work) => {
        const deleted = await work.run(sql.unsafe`
          DELETE FROM event_queue.queue WHERE queue_id = ${queue_id} AND realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND ${lives}`);
        if (deleted === 0) throw badQueue(queue_id);
        return {};
      });
      await redis.redis.del(queueKey(actor.realmId, queue_id)).catch(() => undefined);
      bus.publish(queueSubject(actor.realmId), JSON.stringify({ queueId: queue_id, gone: true }));
      return answer;
    }),

    handle(eventQueueOperations.touchQueues, async ({ meta }, { queue_ids }) => {
      // Gateways call when a quarter of the time was used: so much is given on top.
      const alive = await database.any(sql.type(idRow)`
        UPDATE event_queue.queue SET expires_at = now() + idle_timeout * 1.25
        WHERE realm_id = ${meta.realmId} AND queue_id = ANY(${sql.array(queue_ids, 'text')}) AND ${lives} RETURNING queue_id`);
      const living = new Set(alive.map((row) => row.queue_id));
      return { gone: queue_ids.filter((id) => !living.has(id)) };
    }),
  ];
}

/** The queues of somebody who is deactivated end. */
export function endQueuesOfDeactivated({ consume, redis }: Owner, bus: Bus): void {
  consume({
    name: 'queues-of-deactivated',
    types: ['realm_user'],
    handle: async (work, { event }) => {
      const person = event.body.person as { user_id?: number; is_active?: boolean } | undefined;
      if (event.op !== 'update' || person?.is_active !== false || person.user_id === undefined) return;
      const ended = await work.any(sql.type(idRow)`
        DELETE FROM event_queue.queue WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id} RETURNING queue_id`);
      // Told before the commit: should it fail, a poll of a living queue is only ended early. And before Redis, which may be slow.
      for (const { queue_id } of ended)
        bus.publish(
          queueSubject(work.realmId),
          JSON.stringify({ queueId: queue_id, generation: Number.MAX_SAFE_INTEGER }),
        );
      const keys = ended.map(({ queue_id }) => queueKey(work.realmId, queue_id));
      await Promise.all(keys.map((key) => redis.redis.del(key).catch(() => undefined)));
    },
  });
}

const badQueue = (queueId: string): ChatError =>
  new ChatError('BAD_EVENT_QUEUE_ID', `Bad event queue ID: ${queueId}`, { queue_id: queueId });
