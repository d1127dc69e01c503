import { crowd, organisation } from '../data/realms.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';

export const users: Scenario = {
  name: 'users',
  title: 'GET /users of whole organisations',
  async run(bench) {
    const { registerRealms, repeats } = bench.sizes;
    const realms = [];
    for (const people of registerRealms) realms.push(await organisation(bench, people));
    realms.push(await crowd(bench));
    const measurements: Measurement[] = [];
    const series: Record<'system' | 'floor', [number, number][]> = { system: [], floor: [] };
    const figures = [];
    for (const realm of realms) {
      const count = realm.people.length;
      const requests = realm.people.slice(0, 20).map((who) => apiRequest(realm.host, who, 'GET /users'));
      const name = `${count.toLocaleString('en')} users`;
      const measured = await bench.measure({ name, unit: 'list', requests, inFlight: 1, count: repeats });
      const floor = await bench.floorWork(`plain SQL, ${name}`, 'read', {
        kind: 'sql',
        postgresUrl: bench.target.system.servers.postgresUrl,
        queries: [{ text: 'SELECT * FROM users.account WHERE realm_id = $1', values: [realm.id] }],
        times: repeats,
        inFlight: 1,
      });
      measurements.push(measured, floor);
      series.system.push([count, measured.latency.p50]);
      series.floor.push([count, floor.latency.p50]);
      if (count === registerRealms[2])
        figures.push(
          figure('list_p50_ms', measured.latency.p50, 'ms'),
          figure('list_to_floor', measured.latency.p50 / floor.latency.p50, '× floor time', 'lower'),
        );
    }
    return {
      measurements,
      figures,
      plots: [
        {
          title: 'GET /users',
          x: 'users',
          y: 'p50 ms',
          isLogX: true,
          series: [
            { name: 'GET /users', points: series.system },
            { name: 'plain SQL, serialised', points: series.floor },
          ],
        },
      ],
    };
  },
};
