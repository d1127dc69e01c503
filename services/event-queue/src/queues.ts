import { ChatError, eventQueueOperations, queueRecordSchema, serverStatusOperations } from '@natter/contracts';
import { createBatcher, sql } from '@natter/database';
import { queueSubject } from '@natter/event-log';
import { type Bus, type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { endQueues, lives, markService, touchQueues } from './expiry.ts';
import { forget, remember } from './record-cache.ts';

const countRow = z.object({ count: z.number() });
const recordRow = z.object({ record: queueRecordSchema.nullable() });

export function queueHandlers({ database, redis }: Owner, bus: Bus): Handlers {
  // After a restart of gateways, or without Redis, all clients poll at once. The position is read for queues that are not
  // found as well, because a standby that lags behind may not have them yet, and refuses it.
  const find = createBatcher(async (asked: { realmId: number; queueId: string }[]) => {
    const rows = await database.any(sql.type(recordRow)`
      SELECT q.record FROM ${sql.unnest(
        asked.map(({ realmId, queueId }) => [realmId, queueId]),
        ['int4', 'text'],
      )} AS a (realm_id, queue_id)
      CROSS JOIN LATERAL log.position(a.realm_id) p LEFT JOIN event_queue.queue q
        ON q.queue_id = a.queue_id AND q.realm_id = a.realm_id AND q.epoch = p.epoch AND ${lives}`);
    const found = new Map(rows.flatMap(({ record }) => (record ? [[record.queue_id, record]] : [])));
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

    handleWrite(eventQueueOperations.deleteQueue, async ({ actor, write }, { queue_id }) => {
      const answer = await write(async (work) => {
        const deleted = await work.run(sql.unsafe`
          DELETE FROM event_queue.queue WHERE queue_id = ${queue_id} AND realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND ${lives}`);
        if (deleted === 0) throw badQueue(queue_id);
        return {};
      });
      await forget(redis, actor.realmId, [queue_id]);
      bus.publish(queueSubject(actor.realmId), JSON.stringify({ queueId: queue_id, gone: true }));
      return answer;
    }),

    handle(eventQueueOperations.touchQueues, async ({ meta }, { queue_ids }) => {
      const living = new Set(await touchQueues(database, meta.realmId, queue_ids));
      return { gone: queue_ids.filter((id) => !living.has(id)) };
    }),

    handle(serverStatusOperations.countQueues, async ({ meta: { realmId } }) => {
      const { count } = await database.one(sql.type(countRow)`
        SELECT count(*) FROM event_queue.queue q
        WHERE q.realm_id = ${realmId} AND q.epoch = (SELECT p.epoch FROM log.position(${realmId}) p) AND ${lives}`);
      return { event_queues: count };
    }),

    handle(eventQueueOperations.confirmService, async () => {
      await markService(database);
      return {};
    }),
  ];
}

/** Ends the queues of users who are deactivated, and of users for whom so much changed that they have to register again. */
export function endQueuesOfUsers({ consume, redis }: Owner, bus: Bus): void {
  /** Queues of each realm that ended in transactions whose commit is not known yet. */
  const endedIn = new Map<number, Set<string>>();
  consume({
    name: 'queues-of-deactivated',
    on: {
      'realm_user/update': async (work, { body: { person }, note }, number) => {
        if (person.is_active !== false && !note?.ends_queues) return;
        // A later queue belongs to a user who was reactivated, or has registered again, before this event was handled.
        const earlier = sql.fragment`user_id = ${person.user_id} AND (record->>'start')::bigint < ${number}`;
        const ended = await endQueues(work, work.realmId, earlier);
        await forget(redis, work.realmId, ended);
        endedIn.set(work.realmId, new Set([...(endedIn.get(work.realmId) ?? []), ...ended]));
      },
    },
    // After the commit: a client whose poll ends polls again at once, and would otherwise find the queue still alive. If
    // this process is killed before it announces the end, a held poll lasts until its heartbeat.
    onMoved: (realmId) => {
      for (const queueId of endedIn.get(realmId) ?? [])
        bus.publish(queueSubject(realmId), JSON.stringify({ queueId, gone: true }));
      endedIn.delete(realmId);
    },
  });
}

const badQueue = (queueId: string): ChatError =>
  new ChatError('BAD_EVENT_QUEUE_ID', `Bad event queue ID: ${queueId}`, { queue_id: queueId });
