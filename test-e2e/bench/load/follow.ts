import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../measure/statistics.ts';
import { Connection } from './connection.ts';
import type { Job, LoadResult, Progress } from './job.ts';
import { Recorder } from './recorder.ts';
import { formOf, textOf } from './request.ts';

export interface Following {
  progress(): Progress;
  results(): LoadResult;
  stop(): LoadResult;
}

interface Event {
  id: number;
  type: string;
  message?: { content: string };
}

/**
 * Follows queues, each on its own connection. A message with the content `at <clock>` is a delivery, measured from that
 * time.
 */
export function startFollowing(job: Extract<Job, { kind: 'follow' }>): Following {
  const recorder = new Recorder();
  const connections: Connection[] = [];
  let isStopped = false;
  let waiting = 0;
  for (const queue of job.queues) void follow(queue);

  async function follow(queue: (typeof job.queues)[number]): Promise<void> {
    const connection = new Connection(job.address);
    connections.push(connection);
    let cursor = queue.lastEventId;
    while (!isStopped) {
      const fields = formOf({ queue_id: queue.queueId, last_event_id: cursor });
      try {
        const exchange = connection.exchange(
          textOf({
            method: 'GET',
            path: `/api/v1/events?${fields}`,
            host: queue.host,
            authorization: queue.authorization,
          }),
        );
        waiting++;
        const reply = await exchange.finally(() => waiting--);
        const at = now();
        recorder.bytes += reply.body.length;
        if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body.toString('utf8')}`);
        for (const event of (JSON.parse(reply.body.toString('utf8')) as { events: Event[] }).events) {
          cursor = Math.max(cursor, event.id);
          const stamp = /at (\d+\.\d+)/.exec(event.message?.content ?? '')?.[1];
          if (stamp !== undefined) recorder.took(at - Number(stamp), Number(stamp));
        }
      } catch (error) {
        if (isStopped) return;
        recorder.fail(String(error));
        await sleep(50 + Math.random() * 100);
      }
    }
  }

  return {
    progress: () => ({ waiting, delivered: recorder.count, failed: recorder.failed }),
    results: () => recorder.end(),
    stop: () => {
      isStopped = true;
      for (const connection of connections) connection.close();
      return recorder.end();
    },
  };
}
