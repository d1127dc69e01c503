import { createChannel } from '../data/channels.ts';
import { type BenchRealm, createRealm } from '../data/realm.ts';
import { crowd } from '../data/realms.ts';
import type { Bench } from '../harness/bench.ts';
import { watch } from '../harness/measure.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import type { LoadResult } from '../load/job.ts';
import { apiRequest } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const carry = { pattern: '"presence_last_update_id":(-?\\d+)', initial: '0' };
const inFlight = 64;

export const presence: Scenario = {
  name: 'presence',
  title: 'presence of a crowd, each post answered with what changed since the last one',
  async run(bench) {
    const { presenceUsers, measureMs, warmupMs } = bench.sizes;
    const realm = await crowd(bench);
    const post = (who: (typeof realm.people)[number], last: string) =>
      apiRequest(realm.host, who, 'POST /users/me/presence', { status: 'active', last_update_id: last });
    await postOnce(bench, realm);
    const latest = await bench.api.call(realm.host, realm.owner, 'POST /users/me/presence', {
      status: 'active',
      ping_only: true,
    });
    const requests = realm.people.map((who) => post(who, '%CARRY%'));
    const load = {
      unit: 'post',
      requests,
      inFlight,
      carry: { ...carry, initial: String(latest.presence_last_update_id) },
    };
    const measured = await bench.measure({ name: `${presenceUsers.toLocaleString('en')} users post in turn`, ...load });

    // Sends in a separate realm, without and with the crowd posting as fast as it can.
    const office = await createRealm(bench, 'office', 16);
    const channel = await createChannel(bench, office, 'work', office.people);
    const paced = {
      kind: 'paced' as const,
      address: bench.target.address,
      requests: sendsTo(office, office.people, channel),
      perSecond: 100,
      ms: measureMs,
    };
    await bench.followers.run({ ...paced, ms: warmupMs });
    const sends = (name: string, run: () => Promise<LoadResult>) =>
      watch({ name, unit: 'send', groups: bench.target.groups }, run);
    const quiet = await sends('100 sends/s, nobody posts', () => bench.followers.run(paced));
    const posting = bench.load.run({
      kind: 'closed',
      address: bench.target.address,
      connections: 16,
      requests,
      carry: load.carry,
      ms: measureMs,
    });
    const beside = await sends('100 sends/s beside posts', () => bench.followers.run(paced));
    const posted = await posting;

    const floor = await hashSets(bench);
    return {
      measurements: [measured, quiet.measurement, beside.measurement, floor],
      figures: [
        figure('posts_per_second', measured.perSecond, '/s'),
        figure('posts_of_floor', measured.perSecond / floor.perSecond, '× floor'),
        figure('send_p99_beside', beside.measurement.latency.p99 / quiet.measurement.latency.p99, '× alone', 'lower'),
      ],
      notes: [
        `Each post names the last update of the post before it on the same connection, so a delta holds what the other ${inFlight - 1} connections changed meanwhile.`,
        `Beside the sends, ${Math.round(posted.samples.length / posted.seconds)} posts/s were answered, ${Math.round(posted.bytes / Math.max(posted.samples.length, 1))} bytes each.`,
      ],
    };
  },
};

/** All users post once, so that the realm's presence has its maximum size. */
async function postOnce(bench: Bench, realm: BenchRealm): Promise<void> {
  const [seen] = await bench.sql<{ id: string | null }>(
    'SELECT max(update_id) AS id FROM presence.presence WHERE realm_id = $1',
    [realm.id],
  );
  const first = realm.people.map((who) =>
    apiRequest(realm.host, who, 'POST /users/me/presence', { status: 'active', ping_only: true }),
  );
  if (seen?.id === null || seen === undefined)
    await bench.measure({ name: 'first', unit: 'post', requests: first, count: bench.sizes.presenceUsers, inFlight });
}

async function hashSets(bench: Bench): Promise<Measurement> {
  const { measureMs, presenceUsers } = bench.sizes;
  const { redisUrl } = await bench.floors.servers();
  return bench.floorWork('Redis HSET', 'set', {
    kind: 'hset',
    redisUrl,
    times: Math.round(measureMs * 20),
    inFlight,
    keys: presenceUsers,
  });
}
