import { setTimeout as sleep } from 'node:timers/promises';
import { latencyOf } from '../../measure/statistics.ts';
import { createChannel } from '../data/channels.ts';
import { type BenchRealm, createRealm } from '../data/realm.ts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';

export const scheduled: Scenario = {
  name: 'scheduled',
  title: 'scheduled messages that are all due at once, and single ones in an idle system',
  async run(bench) {
    const count = bench.sizes.scheduled;
    const realm = await createRealm(bench, 'scheduled', 50);
    const channel = await createChannel(bench, realm, 'later', realm.people);

    const idle: number[] = [];
    for (let index = 0; index < bench.sizes.idleScheduled; index++) {
      const due = Math.ceil(Date.now() / 1000) + 1;
      await schedule(bench, realm, channel, { index, due });
      await sleep(due * 1000 + 600 - Date.now());
      idle.push((await latenesses(bench, realm, due))[0] ?? Number.POSITIVE_INFINITY);
    }

    // The time that scheduling takes, plus a margin.
    const startedAt = Date.now();
    await inParallel(many(20), 16, (index) =>
      schedule(bench, realm, channel, { index, due: Math.ceil(Date.now() / 1000) + 3_600 }),
    );
    const each = (Date.now() - startedAt) / 20;
    const due = Math.ceil((Date.now() + each * count * 1.5) / 1000) + 10;
    const { measurement } = await bench.measureJob(`${count} scheduled`, 'schedule', async () => {
      const samples: number[] = [];
      const from = Date.now();
      await inParallel(many(count), 16, async (index) => {
        const begun = Date.now();
        await schedule(bench, realm, channel, { index, due });
        samples.push(Date.now() - begun);
      });
      return {
        samples: Float64Array.from(samples),
        startedAt: new Float64Array(),
        failed: 0,
        failures: [],
        refused: new Float64Array(),
        seconds: (Date.now() - from) / 1000,
        bytes: 0,
        cpuMs: 0,
      };
    });
    if (Date.now() > due * 1000) throw new Error('scheduling took so long that they were due before all were there');
    await sleep(due * 1000 - Date.now());
    for (const end = Date.now() + 60_000; (await latenesses(bench, realm, due)).length < count && Date.now() < end; )
      await sleep(200);
    await sleep(500);
    const late = await latenesses(bench, realm, due);
    const [doubled] = await bench.sql<{ count: string }>(
      `SELECT count(*) - count(DISTINCT content) AS count FROM messaging.message WHERE realm_id = $1 AND content LIKE $2`,
      [realm.id, `due ${due} %`],
    );

    const floor = await bulkInsert(bench, count);
    const single = latencyOf(idle);
    const all = latencyOf(late);
    return {
      measurements: [measurement, floor],
      figures: [
        figure('all_sent_after_ms', all.max, 'ms'),
        figure('not_sent', count - late.length, 'messages'),
        figure('sent_twice', Number(doubled?.count ?? 0), 'messages'),
        figure('idle_lateness_p99_ms', single.p99, 'ms'),
        figure('all_to_floor', all.max / floor.latency.p50, '× floor time', 'lower'),
      ],
      notes: [
        'Lateness is the time the database gave the message less the time it was due, in whole seconds as the API takes them.',
        `${count} at once: half were sent after ${all.p50.toFixed(0)} ms. ${idle.length} single ones: p50 ${single.p50.toFixed(0)} ms late.`,
      ],
    };
  },
};

/** The floor: the rows of all messages, inserted by one statement. */
async function bulkInsert(bench: Bench, count: number): Promise<Measurement> {
  const { postgresUrl } = await bench.floors.servers();
  await bench.floors.writer({ event: '{}', delivers: false });
  return bench.floorWork(`bulk insert of ${count} messages`, 'insert', {
    kind: 'sql',
    postgresUrl,
    queries: [
      {
        text: `INSERT INTO floor.message SELECT (random() * 1e9)::int, n, 1, 1, 'topic', 'content ' || n, '<p>content</p>', 'bench' FROM generate_series(1, $1::int) n`,
        values: [count],
      },
    ],
    times: 3,
    inFlight: 1,
  });
}

const many = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function schedule(
  bench: Bench,
  realm: BenchRealm,
  channel: number,
  { index, due }: { index: number; due: number },
): Promise<unknown> {
  const who = realm.people[index % realm.people.length];
  return bench.api.call(realm.host, who, 'POST /scheduled_messages', {
    type: 'channel',
    to: channel,
    topic: 'later',
    content: `due ${due} number ${index}`,
    scheduled_delivery_timestamp: due,
  });
}

/** Delay in milliseconds of the messages of one due time. */
async function latenesses(bench: Bench, realm: BenchRealm, due: number): Promise<number[]> {
  const rows = await bench.sql<{ late: string }>(
    `SELECT extract(epoch FROM sent_at) * 1000 - $2::float8 * 1000 AS late FROM messaging.message
      WHERE realm_id = $1 AND content LIKE $3 ORDER BY id`,
    [realm.id, due, `due ${due} %`],
  );
  return rows.map((row) => Number(row.late));
}
