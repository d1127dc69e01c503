import { createChannel } from '../data/channels.ts';
import { type BenchRealm, createRealm } from '../data/realm.ts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import { watch } from '../harness/measure.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import type { Job } from '../load/job.ts';
import { apiRequest, type RequestSpec } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const inFlight = 64;
const people = 64;
const groupsPerLoad = 8;
const changesPerSecond = 50;
const sendsPerSecond = 20;

export const contention: Scenario = {
  name: 'contention',
  title: `administrative changes of one realm, ${inFlight} in flight; sends beside ${changesPerSecond} changes of memberships a second`,
  async run(bench) {
    const { measureMs } = bench.sizes;
    const realm = await createRealm(bench, 'contended', people);
    const channel = await createChannel(bench, realm, 'talk', [realm.owner, ...realm.people]);
    const message = await bench.api.call(realm.host, realm.owner, 'POST /messages', {
      type: 'channel',
      to: channel,
      topic: 'edited by many',
      content: 'original',
    });
    const kinds: [name: string, requests: RequestSpec[]][] = [
      ['members of groups', await memberships(bench, realm, 'all at once')],
      ['roles of different people', roles(realm)],
      ['one message edited', edits(realm, message.id)],
      ['groups created', groupsCreated(realm)],
    ];
    const changes: Measurement[] = [];
    for (const [name, requests] of kinds)
      changes.push(await bench.measure({ name, unit: 'change', requests, inFlight, count: requests.length }));

    const sends: Extract<Job, { kind: 'paced' }> = {
      kind: 'paced',
      address: bench.target.address,
      requests: sendsTo(realm, realm.people, channel),
      perSecond: sendsPerSecond,
      ms: measureMs * 2,
    };
    await bench.followers.run({ ...sends, ms: bench.sizes.warmupMs });
    const bystanders = async (name: string): Promise<Measurement> =>
      (await watch({ name, unit: 'send', groups: bench.target.groups }, () => bench.followers.run(sends))).measurement;
    const alone = await bystanders(`${sendsPerSecond} sends/s`);
    const requests = await memberships(bench, realm, 'beside sends');
    const noise = bench.load.run({ ...sends, requests, perSecond: changesPerSecond });
    const beside = await bystanders(`${sendsPerSecond} sends/s, ${changesPerSecond} changes/s`);
    const { samples, seconds, failed } = await noise;
    const slowest = Math.min(...changes.map(({ perSecond }) => perSecond));
    return {
      measurements: [...changes, alone, beside],
      figures: [
        figure('changes_per_second', slowest, '/s'),
        figure(
          'refused',
          changes.reduce((sum, one) => sum + one.failed, failed + beside.failed),
          'answers',
          'lower',
        ),
        figure('changes_beside_sends_per_second', samples.length / seconds, '/s'),
        figure('bystanders_p99_ratio', beside.latency.p99 / alone.latency.p99, '× p99', 'lower'),
      ],
      notes: ['`changes_per_second` is that of the slowest kind of change.'],
    };
  },
};

/** All users join each group, and leave it much later, because requests in flight overtake each other. */
async function memberships(bench: Bench, realm: BenchRealm, name: string): Promise<RequestSpec[]> {
  const numbers = Array.from({ length: groupsPerLoad }, (_, index) => index);
  const groups = await inParallel(numbers, 2, async (index) => {
    const form = { name: `${name} ${index}`, description: '', members: [] };
    const { group_id } = await bench.api.call(realm.host, realm.owner, 'POST /user_groups/create', form);
    return group_id as number;
  });
  return ['add', 'delete'].flatMap((verb) =>
    groups.flatMap((group) =>
      realm.people.map(({ user_id }) =>
        apiRequest(realm.host, realm.owner, `POST /user_groups/${group}/members`, { [verb]: [user_id] }),
      ),
    ),
  );
}

const roles = (realm: BenchRealm): RequestSpec[] =>
  [300, 400, 300, 400].flatMap((role) =>
    realm.people.map(({ user_id }) => apiRequest(realm.host, realm.owner, `PATCH /users/${user_id}`, { role })),
  );

const edits = (realm: BenchRealm, id: number): RequestSpec[] =>
  Array.from({ length: 200 }, (_, index) =>
    apiRequest(realm.host, realm.owner, `PATCH /messages/${id}`, { content: `edit ${index}` }),
  );

/** The administrator is a member of each: each change affects the decision on the next one. */
const groupsCreated = (realm: BenchRealm): RequestSpec[] =>
  Array.from({ length: 200 }, (_, index) =>
    apiRequest(realm.host, realm.owner, 'POST /user_groups/create', {
      name: `created ${index}`,
      description: '',
      members: [realm.owner.user_id],
    }),
  );
