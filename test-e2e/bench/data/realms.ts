import type { Bench } from '../harness/bench.ts';
import { createChannel, createChannels } from './channels.ts';
import { type BenchRealm, createRealm, keptRealm } from './realm.ts';

/** An organization of typical shape: users, a tenth as many channels, and the same number of subscriptions per user. */
export const organisation = (bench: Bench, people: number): Promise<BenchRealm> =>
  keptRealm(bench, `organisation-${people}`, async () => {
    const channels = Math.round((people * bench.sizes.channels) / bench.sizes.users);
    const realm = await createRealm(bench, `organisation-${people}`, people);
    await createChannels(bench, realm, channels, Math.min(bench.sizes.subscriptionsPerUser, channels));
    return realm;
  });

/** The largest organization, with additional channels of given sizes: their ids by size. */
export async function largeOrganisation(bench: Bench): Promise<BenchRealm & { channelOfSize: Record<number, number> }> {
  const { users, channelSizes } = bench.sizes;
  const realm = await organisation(bench, users);
  const channelOfSize: Record<number, number> = {};
  for (const size of channelSizes) {
    const name = `subscribers ${size}`;
    const known = await bench.api
      .call(realm.host, realm.owner, 'GET /get_stream_id', { stream: name })
      .catch(() => undefined);
    channelOfSize[size] = known?.stream_id ?? (await createChannel(bench, realm, name, realm.people.slice(0, size)));
  }
  return { ...realm, channelOfSize };
}

/** Users only, for presence. */
export const crowd = (bench: Bench): Promise<BenchRealm> =>
  keptRealm(bench, `crowd-${bench.sizes.presenceUsers}`, () => createRealm(bench, 'crowd', bench.sizes.presenceUsers));
