import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../api.ts';
import { apply, type ClientState, comparable, stateOf } from '../../client-state.ts';
import { randomOf } from '../../kills.ts';
import { expectFreshStates, type Follower, follower } from '../followers.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const names = ['owner', 'administrator', 'moderator', 'member', 'member2', 'guest'] as const;
type Name = (typeof names)[number];
const wanted = ['realm_user', 'subscription', 'stream'];

const call = (who: Name, method: string, path: string, form: Record<string, unknown> = {}) =>
  realm[who].send(method, path, form);
const form = { event_types: wanted, include_subscribers: 'true', client_gravatar: false };
const keeping = { stateOf, apply, comparable };

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`state plus events equals a fresh register, for every user (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const followers: Follower<ClientState>[] = [];
  const follow = async (): Promise<void> => {
    followers.push(await follower(realm[pick(names)], form, keeping));
  };
  const ids = names.map((name) => realm[name].user_id);
  let created = 0;
  const group = { name: 'friends', description: '', members: [] };
  const friends: number = (await realm.owner.ok('POST', '/user_groups/create', group)).group_id;
  const anyChannel = async (): Promise<number> => {
    const { streams } = await realm.owner.ok('GET', '/streams', { include_all: true, exclude_archived: false });
    return pick(streams.map((stream: Answer) => stream.stream_id) as number[]);
  };
  /** A user who is no follower, and who is deactivated and reactivated. */
  const other = (await realm.person()).user_id;
  const someone = (): unknown =>
    pick<unknown>([friends, { direct_members: [pick([...ids, other]), other], direct_subgroups: [] }]);
  const operate = async (): Promise<void> => {
    const channel = pick(['general', 'sandbox', 'one', 'two', 'three']);
    const choices = [
      () =>
        call(pick(names), 'POST', '/users/me/subscriptions', {
          subscriptions: [{ name: channel }],
          invite_only: random() < 0.5,
        }),
      () =>
        call(pick(names), 'POST', '/users/me/subscriptions', {
          subscriptions: [{ name: channel }],
          principals: [pick(ids), pick(ids)],
        }),
      () => call(pick(names), 'DELETE', '/users/me/subscriptions', { subscriptions: [channel] }),
      () =>
        call('owner', 'PATCH', `/users/${realm[pick(['moderator', 'member', 'member2', 'guest'] as const)].user_id}`, {
          role: pick([200, 300, 400, 600]),
        }),
      async () =>
        call(
          pick(names),
          'PATCH',
          `/streams/${await anyChannel()}`,
          pick<Answer>([
            { is_private: random() < 0.5 },
            { description: `Text ${Math.floor(random() * 1000)}` },
            { can_subscribe_group: { new: someone() } },
            { can_administer_channel_group: { new: someone() } },
            { is_archived: random() < 0.3 },
          ]),
        ),
      () =>
        call('owner', 'POST', `/user_groups/${friends}/members`, { [random() < 0.6 ? 'add' : 'delete']: [pick(ids)] }),
      () => call('owner', 'DELETE', `/users/${other}`),
      () => call('owner', 'POST', `/users/${other}/reactivate`),
      () => call('owner', 'PATCH', `/users/${pick(ids)}`, { full_name: `Name ${Math.floor(random() * 1000)}` }),
      () =>
        call('administrator', 'POST', '/users', {
          email: `p${++created}@natter.example`,
          password: 'some-password',
          full_name: `Person ${created}`,
        }),
    ];
    await pick(choices)();
  };
  for (let round = 0; round < 40; round++)
    await Promise.all([operate(), operate(), operate(), random() < 0.5 ? follow() : undefined]);

  const counts = await expectFreshStates(followers, keeping);
  console.log(`${followers.length} followers`, counts);
  expect(followers.length).toBeGreaterThan(5);
});
