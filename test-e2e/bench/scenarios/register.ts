import type { BenchRealm } from '../data/realm.ts';
import { organisation } from '../data/realms.ts';
import type { Bench } from '../harness/bench.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest, type Form } from '../load/request.ts';

/** The parameters of a web client. */
const client: Form = {
  apply_markdown: true,
  client_gravatar: true,
  slim_presence: true,
  include_subscribers: 'partial',
  client_capabilities: {
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: true,
    stream_typing_notifications: true,
    user_settings_object: true,
    linkifier_url_template: true,
    user_list_incomplete: true,
    include_deactivated_groups: true,
    archived_channels: true,
    empty_topic_name: true,
    simplified_presence_events: true,
  },
};

export const register: Scenario = {
  name: 'register',
  title: 'registers in an organisation in which a user is changed every second',
  async run(bench) {
    const { registerRealms } = bench.sizes;
    const points: [number, number][] = [];
    const floorPoints: [number, number][] = [];
    for (const people of registerRealms.slice(0, 2)) {
      const realm = await organisation(bench, people);
      points.push([people, (await registers(bench, realm, `${people} users, alone`)).latency.p50]);
      floorPoints.push([people, (await plainRows(bench, realm)).latency.p50]);
    }
    const most = registerRealms[2];
    const realm = await organisation(bench, most);
    // Other scenarios send tens of thousands of messages here; active users would have read them.
    for (const who of registering(realm)) await bench.api.call(realm.host, who, 'POST /mark_all_as_read', {});
    const changing = changeSomebodyEverySecond(bench, realm);
    const alone = await registers(bench, realm, `${most} users, alone`);
    const crowded = await registers(bench, realm, `${most} users, 10 in flight`, { inFlight: 10 });
    const subscriptions = await registers(bench, realm, 'subscriptions only', {
      form: { fetch_event_types: ['subscription'], include_subscribers: 'false' },
    });
    const partial = await registers(bench, realm, 'subscriptions only, some subscribers', {
      form: { fetch_event_types: ['subscription'], include_subscribers: 'partial' },
    });
    await changing;
    const floor = await plainRows(bench, realm);
    points.push([most, alone.latency.p50]);
    floorPoints.push([most, floor.latency.p50]);
    const answer = await bench.api.call(realm.host, realm.people[0], 'POST /register', client);
    return {
      measurements: [alone, crowded, subscriptions, partial, floor],
      figures: [
        figure('alone_p50_ms', alone.latency.p50, 'ms'),
        figure('ten_in_flight_p95_ms', crowded.latency.p95, 'ms'),
        figure('subscriptions_p50_ms', subscriptions.latency.p50, 'ms'),
        figure('subscriptions_partial_p50_ms', partial.latency.p50, 'ms'),
        figure('alone_to_floor', alone.latency.p50 / floor.latency.p50, '× floor time', 'lower'),
      ],
      plots: [
        {
          title: 'A register alone, by the size of the organisation',
          x: 'users (a tenth as many channels)',
          y: 'p50 ms',
          isLogX: true,
          series: [
            { name: 'register', points },
            { name: 'plain SQL, serialised', points: floorPoints },
          ],
        },
      ],
      notes: [
        `An answer is ${(JSON.stringify(answer).length / 1e6).toFixed(2)} MB: ${Object.entries(answer)
          .map(([key, value]) => [key, JSON.stringify(value).length] as const)
          .sort(([, a], [, b]) => b - a)
          .slice(0, 6)
          .map(([key, size]) => `${key} ${(size / 1e3).toFixed(0)} kB`)
          .join(', ')}.`,
      ],
    };
  },
};

const registering = (realm: BenchRealm) => realm.people.slice(0, 50);

function registers(
  bench: Bench,
  realm: BenchRealm,
  name: string,
  { inFlight = 1, form = {} }: { inFlight?: number; form?: Form } = {},
): Promise<Measurement> {
  const requests = registering(realm).map((who) =>
    apiRequest(realm.host, who, 'POST /register', { ...client, idle_queue_timeout: 60, ...form }),
  );
  return bench.measure({
    name,
    unit: 'register',
    requests,
    inFlight,
    count: bench.sizes.repeats * (inFlight === 1 ? 1 : 3),
  });
}

async function changeSomebodyEverySecond(bench: Bench, realm: BenchRealm): Promise<void> {
  const requests = realm.people
    .slice(-20)
    .map((person, index) =>
      apiRequest(realm.host, realm.owner, `PATCH /users/${person.user_id}`, { full_name: `Changed ${index} %NOW%` }),
    );
  const ms = bench.sizes.measureMs;
  const { failed, failures } = await bench.followers.run({
    kind: 'paced',
    address: bench.target.address,
    requests,
    perSecond: 1,
    ms,
  });
  if (failed > 0) throw new Error(`changing users failed: ${failures.join(' | ')}`);
}

/** Reads the tables of a register column by column, without any logic. */
function plainRows(bench: Bench, realm: BenchRealm): Promise<Measurement> {
  const person = realm.people[0]?.user_id;
  return bench.floorWork('plain SQL, serialised', 'read', {
    kind: 'sql',
    postgresUrl: bench.target.system.servers.postgresUrl,
    queries: [
      { text: 'SELECT * FROM users.account WHERE realm_id = $1', values: [realm.id] },
      { text: 'SELECT * FROM channels.channel WHERE realm_id = $1', values: [realm.id] },
      { text: 'SELECT * FROM channels.subscription WHERE realm_id = $1 AND user_id = $2', values: [realm.id, person] },
    ],
    times: bench.sizes.repeats,
    inFlight: 1,
  });
}
