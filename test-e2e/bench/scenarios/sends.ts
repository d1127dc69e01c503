import type { LiveQueue } from '../data/queues.ts';
import type { BenchRealm } from '../data/realm.ts';
import type { Bench } from '../harness/bench.ts';
import type { FollowJob } from '../load/load-process.ts';
import { apiRequest, type Identity, type RequestSpec } from '../load/request.ts';

/** Sends to a channel by alternating senders. The content contains the send time, which followers read. */
export const sendsTo = (
  realm: Pick<BenchRealm, 'host'>,
  senders: readonly Identity[],
  channelId: number,
  content = 'This was sent at %NOW% and is as long as most of what people say to each other in a day',
): RequestSpec[] =>
  senders.map((sender, index) =>
    apiRequest(realm.host, sender, 'POST /messages', {
      type: 'channel',
      to: channelId,
      topic: `topic ${index % 8}`,
      content,
    }),
  );

/** Starts following; resolves when all polls are held. */
export async function followAll(bench: Bench, queues: LiveQueue[]): Promise<FollowJob> {
  const job = bench.followers.follow({ address: bench.target.address, queues });
  await job.until(({ waiting }) => waiting === queues.length, 'polls held', 120_000);
  return job;
}

/** A recorded message event of this realm: the floor writes rows of the same length. */
export async function sampleEvent(bench: Bench, realm: BenchRealm): Promise<string> {
  const [row] = await bench.sql<{ event: string }>(
    `SELECT event::text FROM log.event WHERE realm_id = $1 AND type = 'message' ORDER BY number DESC LIMIT 1`,
    [realm.id],
  );
  if (!row) throw new Error('nothing was sent in this realm yet');
  return row.event;
}

export const totalCpu = ({ cpu }: { cpu: Record<string, number> }): number =>
  Object.values(cpu).reduce((sum, cost) => sum + cost, 0);
