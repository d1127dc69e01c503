import { createChannel } from '../data/channels.ts';
import { registerQueues } from '../data/queues.ts';
import { createRealm } from '../data/realm.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { followAll, sampleEvent, sendsTo, totalCpu } from './sends.ts';

const queues = 100;
const receiving = 10;

export const send: Scenario = {
  name: 'send',
  title: `64 sends in flight, one realm, ${queues} live queues of which ${receiving} receive`,
  async run(bench) {
    const realm = await createRealm(bench, 'send', queues + 16);
    const live = realm.people.slice(0, queues);
    const channel = await createChannel(bench, realm, 'busy', live.slice(0, receiving));
    const requests = sendsTo(realm, realm.people.slice(queues), channel);

    // Hot code is compiled during the first half minute of a process, which is not measured.
    const warming = { kind: 'closed' as const, address: bench.target.address, connections: 64, requests };
    await bench.load.run({ ...warming, ms: bench.sizes.warmupMs * 5 });
    const alone = await bench.measure({ name: 'no queues', unit: 'send', requests });
    const following = await followAll(bench, await registerQueues(bench, realm.host, live));
    const heard = await bench.measure({ name: `${queues} queues, ${receiving} receive`, unit: 'send', requests });
    const deliveries = await following.stop();

    const event = await sampleEvent(bench, realm);
    await bench.floors.writer({ event, delivers: false });
    const { address } = await bench.floors.http('bus', 1);
    const floor = await bench.measure({
      name: 'fastify, NATS, grouped rows',
      unit: 'send',
      requests,
      address,
      isFloor: true,
    });

    return {
      measurements: [alone, heard, floor],
      figures: [
        figure('no_receivers_per_second', alone.perSecond, '/s'),
        figure('with_receivers_per_second', heard.perSecond, '/s'),
        figure('no_receivers_p99_ms', alone.latency.p99, 'ms'),
        figure('with_receivers_p99_ms', heard.latency.p99, 'ms'),
        figure('no_receivers_of_floor', alone.perSecond / floor.perSecond, '× floor'),
        figure('with_receivers_of_floor', heard.perSecond / floor.perSecond, '× floor'),
        figure('cpu_ms_per_send', totalCpu(alone), 'ms'),
        figure('cpu_ms_per_delivery', (totalCpu(heard) - totalCpu(alone)) / receiving, 'ms'),
      ],
      notes: [
        `${deliveries.samples.length.toLocaleString('en')} deliveries were seen by the followers, which used ${Math.round(deliveries.cpuMs / deliveries.seconds / 10)} % of a core.`,
        `An event in the record is ${event.length} characters long; so are those of the floor.`,
      ],
    };
  },
};
