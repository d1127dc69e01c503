import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import type { Bench } from '../harness/bench.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';
import { sendsTo } from './sends.ts';

const delayMicroseconds = 2_000;

export const commitDelay: Scenario = {
  name: 'commit-delay',
  title: 'the ceiling of one realm when every flush of Postgres takes 2 ms longer',
  async run(bench) {
    const realm = await createRealm(bench, 'slow-disk', 20);
    const channel = await createChannel(bench, realm, 'busy', realm.people.slice(0, 4));
    const sends = sendsTo(realm, realm.people.slice(4), channel);
    const renames = realm.people.map((person, index) =>
      apiRequest(realm.host, realm.owner, `PATCH /users/${person.user_id}`, { full_name: `Renamed ${index} %NOW%` }),
    );
    const measurements: Measurement[] = [];
    const measureBoth = async (when: string): Promise<void> => {
      measurements.push(await bench.measure({ name: `sends${when}`, unit: 'send', requests: sends }));
      measurements.push(
        await bench.measure({ name: `renames${when}`, unit: 'rename', requests: renames, inFlight: 16 }),
      );
    };
    await measureBoth('');
    await setDelay(bench, delayMicroseconds);
    try {
      await measureBoth(', 2 ms more per flush');
    } finally {
      await setDelay(bench, 0);
    }
    const [, , slowSends, slowRenames] = measurements;
    return {
      measurements,
      figures: [
        figure('sends_per_second', slowSends?.perSecond ?? 0, '/s'),
        figure('renames_per_second', slowRenames?.perSecond ?? 0, '/s'),
      ],
      notes: [
        'Set with commit_delay = 2000 and commit_siblings = 0 in the running server, and taken back afterwards: a deviation of this scenario alone.',
      ],
    };
  },
};

async function setDelay(bench: Bench, microseconds: number): Promise<void> {
  await bench.sql(`ALTER SYSTEM SET commit_delay = ${microseconds}`);
  await bench.sql(`ALTER SYSTEM SET commit_siblings = ${microseconds > 0 ? 0 : 5}`);
  await bench.sql('SELECT pg_reload_conf()');
}
