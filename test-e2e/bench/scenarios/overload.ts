import { watchHighestMemory } from '../../measure/processes.ts';
import { latencyOf } from '../../measure/statistics.ts';
import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import { watch } from '../harness/measure.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import type { Job, LoadResult } from '../load/job.ts';
import { apiRequest } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const times = 4;
/** Enough for the maximum rate. */
const connections = 32;
const calmPerSecond = 10;
/** A latency is usual again if it is at most this multiple of the p99 before the overload. */
const usual = 2;

export const overload: Scenario = {
  name: 'overload',
  title: `sends at ${times} times the rate that the system can do, beside a realm with little to do`,
  async run(bench) {
    const { measureMs, warmupMs } = bench.sizes;
    const { address, groups } = bench.target;
    const busy = await createRealm(bench, 'overload', 64);
    const sends = sendsTo(busy, busy.people, await createChannel(bench, busy, 'talk', busy.people));
    const calm = await createRealm(bench, 'beside-overload', 20);
    const reads = calm.people.map((person) =>
      apiRequest(calm.host, person, 'GET /messages', { anchor: 'newest', num_before: 20, num_after: 0 }),
    );
    const calmly = (ms: number): Extract<Job, { kind: 'paced' }> => ({
      ...{ kind: 'paced', address, requests: reads, perSecond: calmPerSecond, ms },
    });
    const closed = (ms: number) => bench.load.run({ kind: 'closed', address, connections, requests: sends, ms });

    await closed(warmupMs);
    // The maximum is measured while no other realm is active: beside one, a realm with expensive requests is held back.
    const most = await watch({ name: 'sends, maximum', unit: 'send', groups }, () => closed(measureMs));
    await bench.followers.run(calmly(warmupMs));
    const before = await watch({ name: 'calm realm, before', unit: 'read', groups }, () =>
      bench.followers.run(calmly(measureMs)),
    );
    const perSecond = times * most.measurement.perSecond;
    const memory = watchHighestMemory(groups);
    const beside = bench.followers.run(calmly(measureMs));
    const over = await bench.load.run({ kind: 'paced', address, requests: sends, perSecond, ms: measureMs });
    const during = await beside;
    const after = await bench.followers.run(calmly(measureMs));
    const highest = memory.stop();

    const [admitted, refused] = [latencyOf(over.samples), latencyOf(over.refused)];
    const usualMs = usual * before.measurement.latency.p99;
    return {
      measurements: [before.measurement, most.measurement],
      figures: [
        figure(
          'throughput_to_capacity',
          over.samples.length / over.seconds / most.measurement.perSecond,
          '× maximum',
          'higher',
        ),
        figure('admitted_p99_ms', admitted.p99, 'ms'),
        figure('refused_p99_ms', refused.p99, 'ms'),
        figure('broken', over.failed - over.refused.length, 'requests', 'lower'),
        figure('calm_p99_to_before', latencyOf(during.samples).p99 / before.measurement.latency.p99, '× p99', 'lower'),
        figure('usual_after_ms', usualAgainAfter(after, usualMs), 'ms'),
        figure('highest_rss_mib', Math.max(...Object.values(highest)) / 2 ** 20, 'MiB', 'lower'),
      ],
      notes: [
        `${perSecond.toFixed(0)} sends a second were due for ${measureMs / 1_000} s: ${over.samples.length} were admitted and ${over.failed} were not, of which ${over.refused.length} had a 429 or 503 with retry-after. The last answer came after ${over.seconds.toFixed(1)} s.`,
        `Admitted: p50 ${admitted.p50.toFixed(0)} ms, at most ${admitted.max.toFixed(0)} ms; refused: p50 ${refused.p50.toFixed(0)} ms, at most ${refused.max.toFixed(0)} ms. ${over.failures.slice(0, 2).join(' | ')}`,
        `The calm realm had ${during.samples.length} answers and ${during.failed} failures meanwhile.`,
      ],
    };
  },
};

/** Milliseconds from the beginning to the last request that took longer than usual. */
function usualAgainAfter({ samples, startedAt }: LoadResult, usualMs: number): number {
  const late = samples.findLastIndex((sample) => sample > usualMs);
  return late < 0 ? 0 : (startedAt[late] ?? 0) + (samples[late] ?? 0) - Math.min(...startedAt);
}
