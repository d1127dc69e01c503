import { type History, history } from '../data/history.ts';
import type { Bench } from '../harness/bench.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest, type Form, type RequestSpec } from '../load/request.ts';

interface Kind {
  name: string;
  form: (from: History, turn: number) => Form;
  /** The bare statement that finds the same rows; $1 is the realm, $2 a channel, $3 an anchor, $4 a sender. */
  sql: string;
  isSearch?: boolean;
}

const columns =
  'SELECT m.* FROM messaging.message m WHERE m.realm_id = $1 AND $2::int > 0 AND $3::bigint > 0 AND $4::int > 0';
const page = 100;
const before = (anchor: unknown, narrow: unknown[] = []): Form => ({ anchor, num_before: page, num_after: 0, narrow });
const spread = ({ first, last }: History, turn: number): number =>
  first + Math.floor(((last - first) * ((turn * 37) % 100)) / 100);
const channelAt = (from: History, turn: number): number => from.channels[turn % from.channels.length] ?? 0;

const kinds: Kind[] = [
  {
    name: 'newest, everything',
    form: () => before('newest'),
    sql: `${columns} ORDER BY m.id DESC LIMIT ${page}`,
  },
  {
    name: 'anywhere, everything',
    form: (from, turn) => before(spread(from, turn)),
    sql: `${columns} AND m.id <= $3 ORDER BY m.id DESC LIMIT ${page}`,
  },
  {
    name: 'anywhere, a channel',
    form: (from, turn) => before(spread(from, turn), [{ operator: 'channel', operand: channelAt(from, turn) }]),
    sql: `${columns} AND m.channel_id = $2 AND m.id <= $3 ORDER BY m.id DESC LIMIT ${page}`,
  },
  {
    name: 'anywhere, a topic',
    form: (from, turn) =>
      before(spread(from, turn), [
        { operator: 'channel', operand: channelAt(from, turn) },
        { operator: 'topic', operand: `topic ${turn % from.channels.length}` },
      ]),
    sql: `${columns} AND m.channel_id = $2 AND lower(m.topic) = 'topic 3' AND m.id <= $3 ORDER BY m.id DESC LIMIT ${page}`,
  },
  {
    name: 'anywhere, a sender',
    form: (from, turn) =>
      before(spread(from, turn), [{ operator: 'sender', operand: from.realm.people[turn % 50]?.user_id }]),
    sql: `${columns} AND m.sender_id = $4 AND m.id <= $3 ORDER BY m.id DESC LIMIT ${page}`,
  },
  {
    name: 'oldest, everything',
    form: () => ({ anchor: 'oldest', num_before: 0, num_after: page }),
    sql: `${columns} ORDER BY m.id LIMIT ${page}`,
  },
  {
    name: 'search, a common word',
    form: () => before('newest', [{ operator: 'search', operand: 'kilo' }]),
    sql: `${columns} AND m.search @@ plainto_tsquery('english', 'kilo') ORDER BY m.id DESC LIMIT ${page}`,
    isSearch: true,
  },
  {
    name: 'search, a rare word',
    form: () => before('newest', [{ operator: 'search', operand: 'needle' }]),
    sql: `${columns} AND m.search @@ plainto_tsquery('english', 'needle') ORDER BY m.id DESC LIMIT ${page}`,
    isSearch: true,
  },
];

export const messages: Scenario = {
  name: 'messages',
  title: `pages of ${page} and searches in a long history`,
  async run(bench) {
    const from = await history(bench);
    const measurements: Measurement[] = [];
    const pages: { p99: number; ratio: number }[] = [];
    const searches: number[] = [];
    const rows: string[] = [];
    for (const kind of kinds) {
      const requests = requestsOf(from, kind);
      const count = bench.sizes.repeats * 5;
      await bench.measure({ name: kind.name, unit: 'page', requests, inFlight: 1, count: 5 });
      const measured = await bench.measure({ name: kind.name, unit: 'page', requests, inFlight: 1, count });
      const floor = await alone(bench, from, kind, count);
      measurements.push(measured, floor);
      if (kind.isSearch) searches.push(measured.latency.p99);
      else pages.push({ p99: measured.latency.p99, ratio: measured.latency.p50 / floor.latency.p50 });
      const answer = await bench.api.call(from.realm.host, from.realm.people[0], 'GET /messages', kind.form(from, 1));
      rows.push(`${kind.name} ${answer.messages.length}`);
    }
    return {
      measurements,
      figures: [
        figure('page_p99_ms', Math.max(...pages.map((one) => one.p99)), 'ms'),
        figure('page_to_floor', Math.max(...pages.map((one) => one.ratio)), '× floor time', 'lower'),
        figure('search_p99_ms', Math.max(...searches), 'ms'),
      ],
      notes: [
        `${bench.sizes.messages.toLocaleString('en')} messages in ${from.channels.length} channels; each figure is the worst kind's.`,
        `Messages in one answer: ${rows.join(', ')}.`,
      ],
    };
  },
};

function requestsOf(from: History, kind: Kind): RequestSpec[] {
  return Array.from({ length: 100 }, (_, turn) =>
    apiRequest(from.realm.host, from.realm.people[turn % 50], 'GET /messages', kind.form(from, turn)),
  );
}

function alone(bench: Bench, from: History, kind: Kind, times: number): Promise<Measurement> {
  const middle = Math.floor((from.first + from.last) / 2);
  const values = [from.realm.id, channelAt(from, 3), middle, from.realm.people[3]?.user_id];
  return bench.floorWork(`SQL alone, ${kind.name}`, 'page', {
    kind: 'sql',
    postgresUrl: bench.target.system.servers.postgresUrl,
    queries: [{ text: kind.sql, values }],
    times,
    inFlight: 1,
  });
}
