import { now } from '../../measure/statistics.ts';
import { createChannel } from '../data/channels.ts';
import { registerQueues } from '../data/queues.ts';
import { createRealm } from '../data/realm.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import type { Job, LoadResult } from '../load/job.ts';
import { followAll, sampleEvent, sendsTo, totalCpu } from './sends.ts';

export const delivery: Scenario = {
  name: 'delivery',
  title: 'from send to delivery, sends at a fixed rate to many receivers',
  async run(bench) {
    const { perSecond, receivers } = bench.sizes.deliver;
    const realm = await createRealm(bench, 'delivery', receivers + 4);
    const receiving = realm.people.slice(0, receivers);
    const channel = await createChannel(bench, realm, 'lively', receiving);
    const following = await followAll(bench, await registerQueues(bench, realm.host, receiving));
    const job: Extract<Job, { kind: 'paced' }> = {
      kind: 'paced',
      address: bench.target.address,
      requests: sendsTo(realm, realm.people.slice(receivers), channel),
      perSecond,
      ms: bench.sizes.measureMs,
    };
    await bench.load.run({ ...job, ms: bench.sizes.warmupMs });

    const before = (await following.progress()).delivered;
    const name = `${perSecond}/s × ${receivers} receivers`;
    let sent: LoadResult | undefined;
    const { measurement } = await bench.measureJob(name, 'delivery', async () => {
      const from = now();
      sent = await bench.load.run(job);
      const expected = before + sent.samples.length * receivers;
      await following.until(({ delivered }) => delivered >= expected, 'deliveries', 30_000);
      return { ...since(await following.stop(), from), seconds: sent.seconds };
    });

    await bench.floors.writer({ event: await sampleEvent(bench, realm), delivers: true });
    const floor = await bench.floorWork('NATS, commit, Redis append, NATS', 'delivery', {
      kind: 'deliver',
      natsUrl: (await bench.floors.servers()).natsUrl,
      perSecond,
      times: Math.round((perSecond * bench.sizes.measureMs) / 1000),
    });
    return {
      measurements: [measurement, floor],
      figures: [
        figure('delivery_p50_ms', measurement.latency.p50, 'ms'),
        figure('delivery_p99_ms', measurement.latency.p99, 'ms'),
        figure('delivery_p50_to_floor', measurement.latency.p50 / floor.latency.p50, '× floor p50', 'lower'),
        figure('cpu_ms_per_delivery', totalCpu(measurement), 'ms'),
      ],
      notes: [
        `Sends took p50 ${percentile(sent, 0.5)} ms, p99 ${percentile(sent, 0.99)} ms meanwhile.`,
        'A delivery is one message in the answer to one held poll, read by the follower; the client polls again each time.',
      ],
    };
  },
};

function since(result: LoadResult, from: number): LoadResult {
  return { ...result, samples: result.samples.filter((_, index) => (result.startedAt[index] ?? 0) >= from) };
}

function percentile(result: LoadResult | undefined, share: number): string {
  const sorted = (result?.samples ?? new Float64Array()).toSorted();
  return (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
}
