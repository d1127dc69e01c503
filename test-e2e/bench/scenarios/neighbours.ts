import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import { watch } from '../harness/measure.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import type { Job } from '../load/job.ts';
import { sendsTo } from './sends.ts';

const usualPerSecond = 5;
const times = 50;

export const neighbours: Scenario = {
  name: 'neighbours',
  title: `sends in a realm, while its neighbour has its usual load and ${times} times as much`,
  async run(bench) {
    const { measureMs, warmupMs } = bench.sizes;
    const paced = async (name: string): Promise<Extract<Job, { kind: 'paced' }>> => {
      const realm = await createRealm(bench, name, 20);
      const channel = await createChannel(bench, realm, 'talk', realm.people);
      const requests = sendsTo(realm, realm.people, channel);
      return { kind: 'paced', address: bench.target.address, requests, perSecond: usualPerSecond, ms: measureMs * 2 };
    };
    const [quiet, loud] = [await paced('quiet'), await paced('loud')];
    await Promise.all(
      [quiet, loud].map((job, index) => [bench.followers, bench.load][index]?.run({ ...job, ms: warmupMs })),
    );
    const beside = async (perSecond: number) => {
      const noise = bench.load.run({ ...loud, perSecond });
      const name = `${usualPerSecond}/s, the neighbour ${perSecond}/s`;
      const { measurement } = await watch({ name, unit: 'send', groups: bench.target.groups }, () =>
        bench.followers.run(quiet),
      );
      const { samples, seconds, failed } = await noise;
      bench.log(`the neighbour sent ${(samples.length / seconds).toFixed(0)}/s, ${failed} failed`);
      return measurement;
    };
    const usual = await beside(usualPerSecond);
    const busy = await beside(usualPerSecond * times);
    return {
      measurements: [usual, busy],
      figures: [
        figure('usual_p99_ms', usual.latency.p99, 'ms'),
        figure('busy_p99_ms', busy.latency.p99, 'ms'),
        figure('p99_beside_busy', busy.latency.p99 / usual.latency.p99, '× p99', 'lower'),
      ],
      notes: [
        'The limit of a user is raised as in all scenarios: nothing but the order of work protects the neighbour.',
      ],
    };
  },
};
