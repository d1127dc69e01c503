import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf, type ProcessGroups } from '../../measure/processes.ts';
import type { LiveQueue } from '../data/queues.ts';
import type { Bench } from '../harness/bench.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { bareHolder, gateways, type Holder, hold, manyQueues } from './held.ts';

export const heldPolls: Scenario = {
  name: 'held-polls',
  title: 'memory of held polls',
  async run(bench) {
    const { heldPolls: sizes } = bench.sizes;
    const { queues } = await manyQueues(bench, sizes[2]);
    // Fresh processes that have answered some polls, so that one-time allocations are not counted per poll.
    await bench.target.restart('gateway');
    const { gateway } = bench.target.groups;
    const points = await memoryBySize(bench, gateways(bench), queues, { held: gateway ?? (() => []) });
    const bare = await bareHolder(bench);
    const floorPoints = await memoryBySize(bench, bare, queues, { held: bench.floors.groups.http ?? (() => []) });
    const perPoll = slope(points);
    const floor = slope(floorPoints);
    return {
      figures: [
        figure('bytes_per_poll', perPoll, 'bytes'),
        figure('floor_bytes_per_poll', floor, 'bytes'),
        figure('memory_to_floor', perPoll / floor, '× floor bytes', 'lower'),
      ],
      plots: [
        {
          title: 'Resident memory of two processes that hold polls',
          x: 'held polls',
          y: 'MB',
          series: [
            { name: 'gateways', points: points.map(([count, bytes]) => [count, bytes / 1e6]) },
            { name: 'bare fastify', points: floorPoints.map(([count, bytes]) => [count, bytes / 1e6]) },
          ],
        },
      ],
      notes: ['Bytes per poll are the slope between the smallest and the largest number of held polls.'],
    };
  },
};

async function memoryBySize(
  bench: Bench,
  holder: Holder,
  queues: LiveQueue[],
  groups: ProcessGroups,
): Promise<[number, number][]> {
  const [few = 0, ...more] = bench.sizes.heldPolls;
  const jobs = [await hold(bench, holder, queues.slice(0, few))];
  const settled = async (count: number): Promise<[number, number]> => {
    await sleep(bench.sizes.warmupMs);
    return [count, memoryOf(groups).held ?? 0];
  };
  const points = [await settled(few)];
  let from = few;
  for (const count of more) {
    jobs.push(await hold(bench, holder, queues.slice(from, count), from));
    points.push(await settled(count));
    from = count;
  }
  for (const job of jobs) await job.stop();
  return points;
}

function slope(points: [number, number][]): number {
  const [fewest, least] = points[0] ?? [0, 0];
  const [most, highest] = points.at(-1) ?? [1, 0];
  return (highest - least) / (most - fewest);
}
