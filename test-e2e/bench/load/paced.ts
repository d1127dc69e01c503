import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../measure/statistics.ts';
import { Connection } from './connection.ts';
import type { Job, LoadResult } from './job.ts';
import { Recorder } from './recorder.ts';
import { textOf } from './request.ts';

/**
 * Sends a fixed number of requests per second, regardless of the answers; latency is measured from the time a request
 * was due.
 */
export async function runPaced(job: Extract<Job, { kind: 'paced' }>): Promise<LoadResult> {
  const recorder = new Recorder();
  const free: Connection[] = [];
  const underWay = new Set<Promise<void>>();
  const start = now();
  const total = Math.round((job.ms / 1000) * job.perSecond);

  async function send(index: number, dueAt: number): Promise<void> {
    const connection = free.pop() ?? new Connection(job.address);
    const spec = job.requests[index % job.requests.length];
    if (!spec) return;
    try {
      const stamp = dueAt.toFixed(3);
      const reply = await connection.exchange(textOf(spec, (template) => template.replaceAll('%NOW%', stamp)));
      recorder.bytes += reply.body.length;
      if (reply.status === 200) recorder.took(now() - dueAt, dueAt);
      else {
        const reason = `${reply.status} ${reply.body.toString('utf8')}`;
        const isRefused = (reply.status === 429 || reply.status === 503) && reply.hasRetryAfter;
        if (isRefused) recorder.refuse(now() - dueAt, reason);
        else recorder.fail(reason);
      }
    } catch (error) {
      recorder.fail(String(error));
    } finally {
      free.push(connection);
    }
  }

  for (let index = 0; index < total; index++) {
    const dueAt = start + (index * 1000) / job.perSecond;
    const wait = dueAt - now();
    if (wait > 1) await sleep(wait);
    const sending = send(index, Math.min(dueAt, now()));
    underWay.add(sending);
    void sending.finally(() => underWay.delete(sending));
  }
  await Promise.all(underWay);
  for (const connection of free) connection.close();
  return recorder.end();
}
