import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { Identity } from '../load/request.ts';
import type { BenchRealm } from './realm.ts';

/** Creates a channel with these subscribers; returns its id. */
export async function createChannel(
  bench: Bench,
  realm: BenchRealm,
  name: string,
  subscribers: readonly Identity[],
): Promise<number> {
  for (let from = 0; from === 0 || from < subscribers.length; from += 5_000)
    await bench.api.call(realm.host, realm.owner, 'POST /users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: subscribers.slice(from, from + 5_000).map((person) => person.user_id),
    });
  const { stream_id } = await bench.api.call(realm.host, realm.owner, 'GET /get_stream_id', { stream: name });
  return stream_id;
}

/** Creates channels `channel 0` … such that all users have the same number of subscriptions, spread evenly. */
export async function createChannels(
  bench: Bench,
  realm: BenchRealm,
  channels: number,
  perPerson: number,
): Promise<void> {
  const numbers = Array.from({ length: channels }, (_, index) => index);
  await inParallel(numbers, 2, async (index) => {
    if (index > 0 && index % 200 === 0) bench.log(`${index} of ${channels} channels`);
    const isIn = (person: number): boolean => (index + channels - (person % channels)) % channels < perPerson;
    const principals = realm.people.filter((_, person) => isIn(person)).map((person) => person.user_id);
    if (principals.length === 0) return;
    await bench.api.call(realm.host, realm.owner, 'POST /users/me/subscriptions', {
      subscriptions: [{ name: `channel ${index}`, description: `What concerns number ${index}` }],
      principals,
    });
  });
}
