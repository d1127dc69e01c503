import { createChannel } from '../data/channels.ts';
import { createRealm } from '../data/realm.ts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { RequestSpec } from '../load/request.ts';
import { sendsTo } from './sends.ts';

/** Sends in turn to unrelated realms. */
export async function sendsInRealms(bench: Bench, count: number): Promise<RequestSpec[]> {
  const byRealm = await inParallel(
    Array.from({ length: count }, (_, index) => index),
    2,
    async (index) => {
      const realm = await createRealm(bench, `one-of-many-${index}`, 2);
      const channel = await createChannel(bench, realm, 'talk', realm.people);
      return sendsTo(realm, realm.people, channel);
    },
  );
  // The first of each realm, then the second of each.
  return [0, 1].flatMap((turn) => byRealm.flatMap((requests) => requests[turn] ?? []));
}
