import { isDeepStrictEqual } from 'node:util';
import type { Client, Json, Queue, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { apply, channelsIn, comparable, eventTypes, fetchTypes, type Kept, keptOf, randomOf } from './model.ts';
import { freshName, group, openQuietRealm, systemGroups } from './setting.ts';

/**
 * For random sequences of changes that affect channel access: each user's state by events equals a fresh register; both
 * equal a model written by hand; and no event mentions a channel to a user who could see it neither before nor after.
 */

interface Known {
  isPrivate: boolean;
  isWebPublic: boolean;
  isArchived: boolean;
  subscribers: Set<number>;
  permissions: Record<string, Json>;
}
const revealing = ['can_administer_channel_group', 'can_subscribe_group', 'can_add_subscribers_group'];
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const steps = Number(process.env.STEPS ?? 40);

let realm: Realm;
let groups: Record<string, number>;
let friends: number;
let inner: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  groups = await systemGroups(realm);
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  inner = await group(realm, []);
  friends = await group(realm, []);
  await realm.owner.ok('POST', `/user_groups/${friends}/subgroups`, { add: [inner] });
});

test(`users receive no events of inaccessible channels, and events match a fresh register (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const people: Client[] = [
    realm.owner,
    realm.administrator,
    realm.moderator,
    realm.member,
    realm.member2,
    realm.guest,
  ];
  const roles = new Map(people.map(({ user_id }, index) => [user_id, [100, 200, 300, 400, 400, 600][index] as number]));
  const members = new Map<number, Set<number>>([
    [friends, new Set()],
    [inner, new Set()],
  ]);
  const channels = new Map<number, Known>();
  const outsider = await realm.person();
  let folderCount = 0;

  const isIn = (value: Json, id: number): boolean => {
    if (typeof value !== 'number')
      return value.direct_members.includes(id) || value.direct_subgroups.some((one: number) => isIn(one, id));
    const role = roles.get(id) ?? 600;
    if (value === groups['role:nobody']) return false;
    if (value === groups['role:moderators']) return role <= 300;
    if (value === groups['role:members']) return role <= 400;
    if (value === inner) return members.get(inner)?.has(id) === true;
    return members.get(friends)?.has(id) === true || members.get(inner)?.has(id) === true;
  };
  const mayKnow = ({ isPrivate, isWebPublic, subscribers, permissions }: Known, id: number): boolean => {
    const role = roles.get(id) ?? 600;
    if (isWebPublic || subscribers.has(id) || role <= 200) return true;
    if (role === 600) return false;
    return !isPrivate || revealing.some((name) => isIn(permissions[name], id));
  };
  const knownTo = (id: number, withArchived: boolean): Set<number> =>
    new Set(
      [...channels]
        .filter(([, one]) => (withArchived || !one.isArchived) && mayKnow(one, id))
        .map(([channel]) => channel),
    );

  const anyValue = (): Json =>
    pick([
      groups['role:nobody'],
      groups['role:moderators'],
      groups['role:members'],
      friends,
      { direct_members: [pick(people).user_id], direct_subgroups: [] },
      { direct_members: [pick(people).user_id], direct_subgroups: [inner] },
    ]);
  const normalized = (value: Json): Json => value;
  const some = (): number[] => people.filter(() => random() < 0.4).map(({ user_id }) => user_id);
  const anyChannel = (): [number, Known] | undefined => pick([...channels]);

  const operations: (() => Promise<void>)[] = [
    async () => {
      const creator = pick(people);
      const subscribers = some();
      const permissions = Object.fromEntries(revealing.map((name) => [name, anyValue()]));
      const isPrivate = random() < 0.6;
      const { status, body } = await creator.post('/channels/create', {
        name: freshName(),
        subscribers,
        invite_only: isPrivate,
        ...permissions,
      });
      if (status === 200)
        channels.set(body.id, {
          isPrivate,
          isWebPublic: false,
          isArchived: false,
          subscribers: new Set(subscribers),
          permissions,
        });
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const name = (await realm.owner.ok('GET', `/streams/${id}`)).stream.name;
      const principals = some();
      if (known.isArchived || principals.length === 0) return;
      const { status } = await pick(people).post('/users/me/subscriptions', { subscriptions: [{ name }], principals });
      if (status === 200) for (const user of principals) known.subscribers.add(user);
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const name = (await realm.owner.ok('GET', `/streams/${id}`)).stream.name;
      const principals = some();
      if (principals.length === 0) return;
      const { status } = await realm.owner.delete('/users/me/subscriptions', { subscriptions: [name], principals });
      if (status === 200) for (const user of principals) known.subscribers.delete(user);
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const is_private = random() < 0.5;
      const { status } = await pick(people).patch(`/streams/${id}`, { is_private });
      if (status !== 200) return;
      known.isPrivate = is_private;
      if (is_private) known.isWebPublic = false;
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const is_web_public = random() < 0.5;
      const { status } = await pick(people).patch(`/streams/${id}`, { is_web_public });
      if (status !== 200) return;
      known.isWebPublic = is_web_public;
      if (is_web_public) known.isPrivate = false;
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const name = pick(revealing);
      const value = anyValue();
      const { status } = await pick(people).patch(`/streams/${id}`, { [name]: { new: value } });
      if (status === 200) known.permissions[name] = normalized(value);
    },
    async () => {
      const person = pick(people.slice(1));
      const role = pick([200, 300, 400, 600]);
      const { status } = await realm.owner.patch(`/users/${person.user_id}`, { role });
      if (status === 200) roles.set(person.user_id, role);
    },
    async () => {
      const target = pick([friends, inner]);
      const person = pick(people).user_id;
      const isAdding = random() < 0.6;
      const { status } = await realm.owner.post(`/user_groups/${target}/members`, {
        [isAdding ? 'add' : 'delete']: [person],
      });
      if (status === 200) isAdding ? members.get(target)?.add(person) : members.get(target)?.delete(person);
    },
    async () => {
      const chosen = anyChannel();
      if (!chosen) return;
      const [id, known] = chosen;
      const is_archived = !known.isArchived;
      const { status } = await realm.owner.patch(`/streams/${id}`, { is_archived });
      if (status === 200) known.isArchived = is_archived;
    },
    async () => {
      const chosen = anyChannel();
      if (chosen)
        await pick(people).patch(`/streams/${chosen[0]}`, { description: freshName(), new_name: freshName() });
    },
    async () => {
      const chosen = anyChannel();
      if (chosen)
        await pick(people).patch(
          `/users/me/subscriptions/${chosen[0]}`,
          pick([
            { property: 'is_muted', value: random() < 0.5 },
            { property: 'color', value: '#123abc' },
            { property: 'push_notifications', value: random() < 0.5 },
          ]),
        );
    },
    async () => {
      const chosen = anyChannel();
      if (chosen) await realm.owner.send(pick(['POST', 'DELETE']), '/default_streams', { stream_id: chosen[0] });
    },
    async () => {
      const { channel_folder_id } = await realm.owner.ok('POST', '/channel_folders/create', {
        name: `folder ${++folderCount}`,
      });
      const chosen = anyChannel();
      if (chosen) await realm.owner.patch(`/streams/${chosen[0]}`, { folder_id: channel_folder_id });
    },
    async () => {
      const chosen = anyChannel();
      if (chosen && !chosen[1].isArchived)
        await realm.owner
          .post('/users/me/subscriptions', {
            subscriptions: [{ name: (await realm.owner.ok('GET', `/streams/${chosen[0]}`)).stream.name }],
            principals: [outsider.user_id],
            authorization_errors_fatal: false,
          })
          .then(({ body }) => {
            if (Object.keys(body.subscribed ?? {}).length > 0) chosen[1].subscribers.add(outsider.user_id);
          });
    },
    async () => {
      await realm.owner.send('DELETE', `/users/${outsider.user_id}`);
    },
    async () => {
      await realm.owner.send('POST', `/users/${outsider.user_id}/reactivate`);
    },
  ];

  interface Follower {
    who: Client;
    withArchived: boolean;
    queue: Queue;
    kept: Kept;
    known: Set<number>;
  }
  const capabilities = (withArchived: boolean) => ({
    archived_channels: withArchived,
    notification_settings_null: withArchived,
  });
  const register = (who: Client, withArchived: boolean, more: Json) =>
    who.ok('POST', '/register', {
      fetch_event_types: fetchTypes,
      event_types: eventTypes,
      include_subscribers: 'true',
      client_capabilities: capabilities(withArchived),
      ...more,
    });
  const followers: Follower[] = [];
  for (const who of people)
    for (const withArchived of [true, false]) {
      const queue = await who.queue({
        fetch_event_types: fetchTypes,
        event_types: eventTypes,
        include_subscribers: 'true',
        client_capabilities: capabilities(withArchived),
      });
      followers.push({ who, withArchived, queue, kept: keptOf(who.user_id, queue.state), known: new Set() });
    }

  const counts = new Map<string, number>();
  for (let step = 0; step < steps; step++) {
    const operation = step < 5 ? (operations[0] as () => Promise<void>) : pick(operations);
    await operation();
    for (const follower of followers) {
      const { who, withArchived, queue, kept, known } = follower;
      const expected = knownTo(who.user_id, withArchived);
      const state = keptOf(who.user_id, await register(who, withArchived, {}));
      expect(
        [...state.streams.keys()].sort((a, b) => a - b),
        `step ${step}: ${operation}`,
      ).toEqual([...expected].sort((a, b) => a - b));
      const deadline = Date.now() + 120_000;
      for (;;) {
        for (const event of await queue.poll(true)) {
          const kind = `${event.type}/${event.op ?? ''}`;
          counts.set(kind, (counts.get(kind) ?? 0) + 1);
          for (const id of channelsIn(event))
            expect(known.has(id) || expected.has(id), `${who.email} was told of ${id}: ${JSON.stringify(event)}`).toBe(
              true,
            );
          apply(kept, event);
        }
        if (isDeepStrictEqual(comparable(kept), comparable(state))) break;
        if (Date.now() > deadline) {
          expect(comparable(kept), `step ${step}, ${who.email}, ${withArchived}: ${operation}`).toEqual(
            comparable(state),
          );
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      follower.known = expected;
    }
  }
  console.log(`${steps} steps, ${channels.size} channels`, Object.fromEntries(counts));
});
