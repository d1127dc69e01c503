import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../measure/statistics.ts';
import { Connection } from './connection.ts';
import type { Job, LoadResult } from './job.ts';
import { Recorder } from './recorder.ts';
import { isTemplate, textOf } from './request.ts';

/** Keeps one request in flight per connection: the next is sent when the last was answered. */
export async function runClosed(job: Extract<Job, { kind: 'closed' }>): Promise<LoadResult> {
  const recorder = new Recorder();
  const texts = job.requests.map((spec) => (isTemplate(spec) ? undefined : Buffer.from(textOf(spec))));
  const pattern = job.carry ? new RegExp(job.carry.pattern) : undefined;
  const limit = job.count ?? Number.POSITIVE_INFINITY;
  let next = 0;
  let issued = 0;
  let isOver = false;

  const lanes = Array.from({ length: job.connections }, async () => {
    const connection = new Connection(job.address);
    let carried = job.carry?.initial ?? '';
    while (!isOver && issued < limit) {
      issued++;
      const index = next++ % job.requests.length;
      const spec = job.requests[index];
      if (!spec) break;
      const text =
        texts[index] ??
        textOf(spec, (template) => template.replaceAll('%CARRY%', carried).replaceAll('%NOW%', now().toFixed(3)));
      const startedAt = now();
      try {
        const reply = await connection.exchange(text);
        if (pattern) carried = pattern.exec(reply.body.toString('latin1'))?.[1] ?? carried;
        recorder.bytes += reply.body.length;
        if (reply.status === 200) recorder.took(now() - startedAt);
        else recorder.fail(`${reply.status} ${reply.body.toString('utf8')}`);
      } catch (error) {
        recorder.fail(String(error));
        await sleep(10);
      }
    }
    connection.close();
  });
  if (job.ms !== undefined) {
    await Promise.race([sleep(job.ms), Promise.all(lanes)]);
    isOver = true;
    const result = recorder.end();
    await Promise.all(lanes);
    return result;
  }
  await Promise.all(lanes);
  return recorder.end();
}
