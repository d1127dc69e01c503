import { metaKey, streamKey } from '@natter/event-log';
import { createChannel } from '../data/channels.ts';
import { type LiveQueue, registerQueues } from '../data/queues.ts';
import { type BenchRealm, createRealm } from '../data/realm.ts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';
import { sampleEvent, sendsTo } from './sends.ts';

const share = 100;

export const catchUp: Scenario = {
  name: 'catch-up',
  title: `many queues far behind, of which each is for one in ${share} entries`,
  async run(bench) {
    const { queues: count, entries } = bench.sizes.catchUp;
    const realm = await createRealm(bench, 'behind', count + 4);
    const people = realm.people.slice(0, count);
    const channels = Math.min(share, count);
    const ids = await inParallel(
      Array.from({ length: channels }, (_, index) => index),
      1,
      (index) =>
        createChannel(
          bench,
          realm,
          `part ${index}`,
          people.filter((_, person) => person % channels === index),
        ),
    );
    const queues = await registerQueues(bench, realm.host, people);
    const requests = ids.flatMap((id) => sendsTo(realm, realm.people.slice(count, count + 1), id));
    await bench.measure({ name: 'sends', unit: 'send', requests, inFlight: 32, count: entries });

    const inMemory = await polls(bench, realm, queues, 'from the gateways’ memory');
    await bench.target.restart('gateway');
    const fromRedis = await polls(bench, realm, queues, 'after a restart of the gateways');

    const event = await sampleEvent(bench, realm);
    const { redisUrl } = await bench.floors.servers();
    const batch = 1_000;
    await bench.floorWork('append', 'batch', {
      kind: 'xadd',
      redisUrl,
      key: 'floor-behind',
      entries: Array.from({ length: Math.min(batch, entries) }, () => event),
      times: Math.ceil(entries / batch),
    });
    const floor = await bench.floorWork(`XRANGE of ${entries} entries, once`, 'read', {
      kind: 'xrange',
      redisUrl,
      key: 'floor-behind',
      times: 5,
    });
    return {
      measurements: [inMemory, fromRedis, floor],
      figures: [
        figure('from_memory_ms', (inMemory.count / inMemory.perSecond) * 1000, 'ms'),
        figure('after_restart_ms', (fromRedis.count / fromRedis.perSecond) * 1000, 'ms'),
        figure(
          'after_restart_to_floor',
          ((fromRedis.count / fromRedis.perSecond) * 1000) / floor.latency.p50,
          '× floor time',
          'lower',
        ),
      ],
      notes: [
        `${count} queues, ${entries} entries, keys ${streamKey(realm.id)} and ${metaKey(realm.id)}. The time is from the first poll to the last answer.`,
        `The floor reads the ${entries} entries one time; the system must hand ${Math.round(entries / channels)} of them to each of ${count} queues.`,
      ],
    };
  },
};

/** Polls every queue once from its start. */
async function polls(bench: Bench, realm: BenchRealm, queues: LiveQueue[], name: string): Promise<Measurement> {
  const requests = queues.map((queue, index) =>
    apiRequest(realm.host, realm.people[index], 'GET /events', {
      queue_id: queue.queueId,
      last_event_id: queue.lastEventId,
      dont_block: true,
    }),
  );
  return bench.measure({
    name,
    unit: 'catch-up',
    requests,
    inFlight: Math.min(queues.length, 64),
    count: queues.length,
  });
}
