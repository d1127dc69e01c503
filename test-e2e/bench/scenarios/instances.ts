import { cpus } from 'node:os';
import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';
import { sendsInRealms } from './many-realms.ts';
import { sendsTo } from './sends.ts';

const counts = [1, 2, 4];

export const instances: Scenario = {
  name: 'instances',
  title: 'the same loads with 1, 2 and 4 processes of each service',
  async run(bench) {
    const measurements: Measurement[] = [];
    const series: Record<string, [number, number][]> = {};
    for (const count of counts) {
      await bench.use({ replicas: count, gateways: count });
      const realm = await createRealm(bench, 'scaled', 20);
      const channel = await createChannel(bench, realm, 'busy', realm.people.slice(0, 4));
      const loads = {
        'sends, one realm': sendsTo(realm, realm.people, channel),
        'sends, ten realms': await sendsInRealms(bench, 10),
        'GET /users/me': realm.people.map((who) => apiRequest(realm.host, who, 'GET /users/me')),
      };
      // Each process compiles hot code itself; with more processes this takes longer.
      const warming = { kind: 'closed' as const, address: bench.target.address, connections: 64 };
      for (const [name, requests] of Object.entries(loads)) {
        await bench.load.run({ ...warming, requests, ms: bench.sizes.warmupMs * 2 * count });
        const measured = await bench.measure({ name: `${name}, × ${count}`, unit: 'request', requests });
        measurements.push(measured);
        series[name] = [...(series[name] ?? []), [count, measured.perSecond]];
      }
    }
    await bench.use({});
    const last = series['sends, one realm']?.at(-1)?.[1] ?? 0;
    const first = series['sends, one realm']?.[0]?.[1] ?? 1;
    return {
      measurements,
      figures: [figure('four_to_one_sends', last / first, '× one', 'higher')],
      plots: [
        {
          title: 'Requests a second by processes of each service',
          x: 'processes of each service and gateways',
          y: '/s',
          isLogX: true,
          series: Object.entries(series).map(([name, points]) => ({ name, points })),
        },
      ],
      notes: [
        `All of them share the ${cpus().length} cores of this machine, with the servers and the load: more processes can't do more here, and what is lost shows what a process costs that is not needed.`,
      ],
    };
  },
};
