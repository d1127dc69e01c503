import { cpus } from 'node:os';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';

const times = (quick: boolean, count: number): number => (quick ? Math.ceil(count / 20) : count);

/** Floors of the machine itself. If they are low, the machine was busy, and no other figure of the run counts. */
export const machine: Scenario = {
  name: 'machine',
  title: 'what this machine can do, without the system',
  async run(bench) {
    const { floors, sizes } = bench;
    const isQuick = sizes.measureMs < 5_000;
    const { natsUrl, redisUrl, postgresUrl } = await floors.servers();
    const form = [apiRequest('floor', undefined, 'POST /messages', { type: 'channel', to: 1, content: 'hello there' })];

    const http = await bench.measure({
      name: 'fastify answers JSON',
      unit: 'request',
      requests: form,
      address: (await floors.http('json', 1)).address,
      isFloor: true,
    });
    await floors.clear();
    const echo = await bench.floorWork('NATS round trip, one at a time', 'request', {
      kind: 'echo',
      natsUrl,
      times: times(isQuick, 10_000),
      inFlight: 1,
    });
    const entries = Array.from({ length: 1_000 }, () => 'x'.repeat(200));
    const xadd = await bench.floorWork('1,000 XADD in one go', 'batch', {
      kind: 'xadd',
      redisUrl,
      key: 'floor-machine',
      entries,
      times: times(isQuick, 500),
    });
    await floors.writer({ event: '{}', delivers: false });
    const text = `WITH c AS (UPDATE floor.clock SET number = number + 1 WHERE realm_id = 1 RETURNING number),
      e AS (INSERT INTO floor.event SELECT 1, number, 1, '{}', clock_timestamp() FROM c)
      INSERT INTO floor.message SELECT 1, number, 1, 1, 'topic', 'content', 'content', 'bench' FROM c`;
    const commit = await bench.floorWork('commit of message, event and clock, 8 clients', 'commit', {
      kind: 'sql',
      postgresUrl,
      queries: [{ text }],
      times: times(isQuick, 20_000),
      inFlight: 8,
    });
    return {
      measurements: [http, echo, xadd, commit],
      figures: [
        figure('fastify_json_per_second', http.perSecond, '/s'),
        figure('nats_round_trip_p50_ms', echo.latency.p50, 'ms'),
        figure('xadd_per_second', xadd.perSecond * entries.length, '/s'),
        figure('commits_one_realm_per_second', commit.perSecond, '/s'),
      ],
      notes: [
        'Thresholds are four fifths of what a quiet machine with 2 cores does.' +
          (cpus().length === 2 ? '' : ` This one has ${cpus().length} cores: they say little.`),
      ],
    };
  },
};
