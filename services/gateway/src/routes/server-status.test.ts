import {
  type Actor,
  type Operation,
  type RequestMeta,
  roles,
  serverStatusOperations,
  unavailable,
} from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createServerStatus } from './server-status.ts';

const meta: RequestMeta = { requestId: 'test', realmId: 1, client: 'test' };
const actorOf = (role: keyof typeof roles) => async (): Promise<Actor> =>
  ({ realmId: 1, userId: 1, role: roles[role], isBot: false }) as Actor;
const away = (): Promise<never> => Promise.reject(unavailable(new Error('away')));

/** `gone`: names of operations whose service is away. */
function statusOver(gone: readonly string[] = []) {
  const pinged: string[] = [];
  const answers = { people_online: 3, event_queues: 4 };
  const bus = {
    ping: async (name: string) => {
      pinged.push(name);
      return { versions: ['1.0.0'], latencyMs: 1 };
    },
    call: (operation: Operation) => (gone.includes(operation.name) ? away() : Promise.resolve(answers)),
  } as unknown as Pick<Bus, 'call' | 'ping'>;
  const status = createServerStatus(bus);
  const read = async (renew: () => Promise<Actor>) =>
    JSON.parse(Buffer.concat(await status.bytes(meta, renew)).toString());
  return { read, pinged };
}

test('an actor who was demoted after the role was cached is refused', async () => {
  const { read } = statusOver();
  await expect(read(actorOf('moderator'))).rejects.toThrow('Must be an organization administrator');
  expect(await read(actorOf('administrator'))).toMatchObject({ people_online: 3, event_queues: 4 });
});

test('while users or presence is unavailable, the other values are returned', async () => {
  const { read } = statusOver([serverStatusOperations.countOnline.name]);
  expect(await read(away)).toMatchObject({ people_online: null, event_queues: 4 });
});

test('simultaneous requests query each service once', async () => {
  const { read, pinged } = statusOver();
  await Promise.all(Array.from({ length: 5 }, () => read(actorOf('owner'))));
  expect(pinged).toHaveLength(7);
});
