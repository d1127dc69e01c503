import { organisation } from '../data/realms.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';

const channels = 10;
const rounds = 4;

export const subscribe: Scenario = {
  name: 'subscribe',
  title: `many users subscribed to ${channels} channels in one request`,
  async run(bench) {
    const { subscribeUsers, users } = bench.sizes;
    const realm = await organisation(bench, users);
    const principals = realm.people.slice(0, subscribeUsers).map((person) => person.user_id);
    const run = `${Date.now()}`;
    const requests = Array.from({ length: rounds }, (_, round) =>
      apiRequest(realm.host, realm.owner, 'POST /users/me/subscriptions', {
        subscriptions: Array.from({ length: channels }, (_, index) => ({ name: `bulk ${run} ${round} ${index}` })),
        principals,
      }),
    );
    const measured = await bench.measure({
      name: 'one request',
      unit: 'request',
      requests,
      inFlight: 1,
      count: rounds,
    });

    const { postgresUrl } = await bench.floors.servers();
    const floorRows = await bench.floorWork(`bulk insert of ${channels * subscribeUsers} rows`, 'insert', {
      kind: 'sql',
      postgresUrl,
      queries: [
        { text: 'CREATE SCHEMA IF NOT EXISTS floor' },
        {
          text: 'CREATE TABLE IF NOT EXISTS floor.subscription (realm_id int, channel_id bigint, user_id int, color text, is_active boolean, PRIMARY KEY (channel_id, user_id))',
        },
        {
          text: `INSERT INTO floor.subscription SELECT 1, c + (random() * 1e15)::bigint, u, '#76ce90', true
            FROM (SELECT c, u FROM generate_series(1, $1) c, generate_series(1, $2) u OFFSET 0) rows`,
          values: [channels, subscribeUsers],
        },
      ],
      times: rounds,
      inFlight: 1,
    });
    return {
      measurements: [measured, floorRows],
      figures: [
        figure('request_p50_ms', measured.latency.p50, 'ms'),
        figure('request_max_ms', measured.latency.max, 'ms'),
        figure('request_to_floor', measured.latency.p50 / floorRows.latency.p50, '× floor time', 'lower'),
      ],
      notes: [`${subscribeUsers} users, ${channels} new channels each time, in an organisation of ${users} users.`],
    };
  },
};
