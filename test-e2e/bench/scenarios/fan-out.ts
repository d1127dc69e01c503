import { median, now } from '../../measure/statistics.ts';
import type { Bench } from '../harness/bench.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { Connection } from '../load/connection.ts';
import type { LoadResult } from '../load/job.ts';
import type { FollowJob } from '../load/load-process.ts';
import { apiRequest, textOf } from '../load/request.ts';
import { bareHolder, gateways, type Holder, hold, manyQueues, releaser, untilHeld } from './held.ts';
import { totalCpu } from './sends.ts';

type Queues = Awaited<ReturnType<typeof manyQueues>>['queues'];

export const fanOut: Scenario = {
  name: 'fan-out',
  title: 'one message to many held polls on two gateways',
  async run(bench) {
    const { heldPolls, fanOutRounds } = bench.sizes;
    const most = heldPolls[2];
    const { realm, channelId, queues } = await manyQueues(bench, most);
    const connection = new Connection(bench.target.address);
    const send = async (): Promise<void> => {
      const form = { type: 'channel', to: channelId, topic: 'fan-out', content: `at ${now().toFixed(3)}` };
      const reply = await connection.exchange(textOf(apiRequest(realm.host, realm.owner, 'POST /messages', form)));
      if (reply.status !== 200) throw new Error(reply.body.toString('utf8'));
    };

    const points: [number, number][] = [];
    const measurements = [];
    for (const count of heldPolls) {
      const holder = gateways(bench);
      const held = await hold(bench, holder, queues.slice(0, count));
      const polls = { followers: held, holder, count };
      await rounds(polls, 1, send);
      let last = 0;
      const { measurement } = await bench.measureJob(`${count} held polls`, 'delivery', async () => {
        const result = await rounds(polls, fanOutRounds, send);
        last = lastAnswers(result);
        return result;
      });
      points.push([count, last]);
      measurements.push(measurement);
      // Queues that are followed again restart at their registration and get the same events again, which are not
      // counted.
      await held.stop();
    }
    connection.close();

    const floorPoints = await floorOf(bench, queues);
    const last = points.at(-1)?.[1] ?? 0;
    const floor = floorPoints.at(-1)?.[1] ?? 1;
    return {
      measurements,
      figures: [
        figure('last_answer_ms', last, 'ms'),
        figure('floor_last_answer_ms', floor, 'ms'),
        figure('last_answer_to_floor', last / floor, '× floor time', 'lower'),
        figure('cpu_ms_per_delivery', totalCpu(measurements.at(-1) ?? { cpu: {} }), 'ms'),
      ],
      plots: [
        {
          title: 'Time until the last of all held polls is answered',
          x: 'held polls on two gateways',
          y: 'ms',
          isLogX: true,
          series: [
            { name: 'Natter, from the send', points },
            { name: 'bare fastify, from the release', points: floorPoints },
          ],
        },
      ],
      notes: [
        'The system counts from the moment the sender sends: authentication, commit and append are in it, and not in the floor.',
      ],
    };
  },
};

/** The same with a bare server that answers all polls on a release. */
async function floorOf(bench: Bench, queues: Queues): Promise<[number, number][]> {
  const { heldPolls, fanOutRounds } = bench.sizes;
  const points: [number, number][] = [];
  const { release, close } = await releaser(bench);
  for (const count of heldPolls) {
    const holder = await bareHolder(bench);
    const held = await hold(bench, holder, queues.slice(0, count));
    const polls = { followers: held, holder, count };
    await rounds(polls, 1, release);
    points.push([count, lastAnswers(await rounds(polls, fanOutRounds, release))]);
    await held.stop();
    await bench.floors.clear();
  }
  await close();
  return points;
}

interface HeldPolls {
  followers: FollowJob;
  holder: Holder;
  count: number;
}

/** Sends and waits until all followers have the message, in consecutive rounds. Returns the durations of the rounds. */
async function rounds(
  { followers, holder, count }: HeldPolls,
  times: number,
  send: () => Promise<void>,
): Promise<LoadResult> {
  const from = now();
  const before = (await followers.progress()).delivered;
  for (let round = 1; round <= times; round++) {
    await send();
    await followers.until(({ delivered }) => delivered >= before + round * count, 'everybody has it', 60_000);
    await untilHeld(holder, count);
  }
  const all = await followers.results();
  const isMine = (index: number): boolean => (all.startedAt[index] ?? 0) >= from;
  return {
    ...all,
    samples: all.samples.filter((_, index) => isMine(index)),
    startedAt: all.startedAt.filter((startedAt) => startedAt >= from),
    seconds: (now() - from) / 1000,
  };
}

/** The median over rounds of the time until the last poll was answered. */
function lastAnswers({ samples, startedAt }: LoadResult): number {
  const byRound = new Map<number, number>();
  for (const [index, sample] of samples.entries()) {
    const round = startedAt[index] ?? 0;
    byRound.set(round, Math.max(byRound.get(round) ?? 0, sample));
  }
  return median([...byRound.values()]);
}
