import { roles } from '@natter/contracts';
import { worstRequests } from '../../fuzz/requests/worst-inputs.ts';
import { memoryOf, watchHighestMemory } from '../../measure/processes.ts';
import { createChannel } from '../data/channels.ts';
import { type BenchRealm, createRealm } from '../data/realm.ts';
import type { Bench } from '../harness/bench.ts';
import { watch } from '../harness/measure.ts';
import type { Measurement } from '../harness/measurement.ts';
import { type Figure, figure, type Scenario } from '../harness/scenario.ts';
import { holdConnections } from '../load/held-connections.ts';
import type { Job } from '../load/job.ts';
import { apiRequest, type Identity, type RequestSpec, textOf } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const guests = 64;
const perSecond = 10;
const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);

interface Attack {
  measurements: Measurement[];
  figures: Figure[];
  notes: string[];
}

export const hostile: Scenario = {
  name: 'hostile',
  title: `ordinary work in a realm, while ${guests} guests of another one send the worst inputs known`,
  async run(bench) {
    await bench.use({ limits: 'default' });
    const atDefault = await attack(bench, 'default limits');
    await bench.use({});
    const raised = await attack(bench, 'raised limits');
    return {
      measurements: [...atDefault.measurements, ...raised.measurements],
      figures: [...atDefault.figures, ...raised.figures],
      notes: [...atDefault.notes, ...raised.notes],
    };
  },
};

async function attack(bench: Bench, name: string): Promise<Attack> {
  const prefix = name.replace(' ', '_');
  const victim = await ordinaryWork(bench);
  const hostileRealm = await createRealm(bench, 'hostile', guests, roles.guest);
  const { people } = hostileRealm;
  const channel = await createChannel(bench, hostileRealm, 'target', people);
  const requests = people.flatMap((guest, index) => requestsOf(hostileRealm, guest, { channel, index }));
  const { groups } = bench.target;
  const measure = async (phase: string, ms: number): Promise<Measurement> => {
    const run = () => bench.followers.run({ ...victim, ms });
    return (await watch({ name: `${phase}, ${name}`, unit: 'request', groups }, run)).measurement;
  };
  await bench.followers.run({ ...victim, ms: bench.sizes.warmupMs });
  const pids = pidsOf(bench);
  const memoryBefore = memoryOf(groups);
  const before = await measure('before', bench.sizes.measureMs * 6);
  const peak = watchHighestMemory(groups);
  const held = holdConnections(bench.target.address, startsOf(hostileRealm, people), guests);
  const noise = bench.load.run({
    kind: 'closed',
    address: bench.target.address,
    connections: guests,
    requests: shuffled(requests),
    ms: bench.sizes.hostileMs,
  });
  const during = await measure('during', bench.sizes.hostileMs);
  const { samples, failed, seconds } = await noise;
  const opened = held.stop();
  const highest = peak.stop();
  const after = await measure('after', bench.sizes.measureMs * 6);
  const restarts = pidsOf(bench).filter((pid, index) => pid !== pids[index]).length;
  const memoryAfter = memoryOf(groups);
  const lines = Object.keys(memoryAfter).map(
    (group) =>
      `${group} ${mib(memoryBefore[group] ?? 0)} → ${mib(highest[group] ?? 0)} → ${mib(memoryAfter[group] ?? 0)}`,
  );
  return {
    measurements: [before, during, after],
    figures: [
      figure(`${prefix}_p99_during_to_before`, during.latency.p99 / before.latency.p99, '× p99', 'lower'),
      figure(`${prefix}_p99_after_to_before`, after.latency.p99 / before.latency.p99, '× p99', 'lower'),
      figure(`${prefix}_restarts`, restarts, 'processes', 'lower'),
      figure(`${prefix}_highest_rss_mib`, Math.max(...Object.values(highest).map(mib)), 'MiB', 'lower'),
    ],
    notes: [
      `${name}: the guests had ${samples.length} requests accepted and ${failed} refused in ${seconds.toFixed(0)} s, and opened ${opened} slow connections.`,
      `${name}: resident MiB before, at most, and after: ${lines.join(', ')}.`,
    ],
  };
}

/** Sends and reads of twenty users, at a fixed rate. */
async function ordinaryWork(bench: Bench): Promise<Extract<Job, { kind: 'paced' }>> {
  const realm = await createRealm(bench, 'beside-hostile', 20);
  const channel = await createChannel(bench, realm, 'talk', realm.people);
  const reads = realm.people.map((person) =>
    apiRequest(realm.host, person, 'GET /messages', { anchor: 'newest', num_before: 20, num_after: 0 }),
  );
  const requests = sendsTo(realm, realm.people, channel).flatMap((send, index) => [send, reads[index] ?? send]);
  return { kind: 'paced', address: bench.target.address, requests, perSecond, ms: 0 };
}

/** Each guest has a share of the inputs, so that all requests fit into the memory of the load process. */
const requestsOf = (
  realm: BenchRealm,
  guest: Identity,
  { channel, index }: { channel: number; index: number },
): RequestSpec[] =>
  worstRequests(channel)
    .filter((_, at) => (at + index) % 8 === 0)
    .map(({ method, path, form, raw }) => ({
      ...apiRequest(realm.host, guest, `${method} ${path}`, form),
      ...(raw ? { body: raw.body, contentType: raw.contentType } : {}),
    }));

/** Beginnings of requests that are never completed. */
function startsOf(realm: BenchRealm, people: readonly Identity[]): string[] {
  return people.flatMap((guest) => {
    const head = textOf(apiRequest(realm.host, guest, 'POST /user_uploads'));
    const heldBody = head.replace(/Content-Length: \d+/, 'Content-Length: 20000000');
    return [heldBody, heldBody.replace('\r\n\r\n', '\r\nX-Slow: ')];
  });
}

const pidsOf = (bench: Bench): (number | undefined)[] => bench.target.system.children.map((child) => child.pid());

/** A fixed order that mixes users and inputs. */
const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((item, index) => [(index * 7_919) % list.length, item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
