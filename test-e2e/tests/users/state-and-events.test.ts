import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { randomOf } from '../../kills.ts';
import { expectFreshStates, type Follower, follower } from '../followers.ts';
import { uploadTo } from '../upload.ts';
import { apply, comparable, fetched, followed, type State, stateOf } from './people-state.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`state plus events equals a fresh register for people, bots, status, mutes and settings (seed ${seed})`, async () => {
  const realm = await openRealm();
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const number = (below: number): number => Math.floor(random() * below);
  const names = ['owner', 'administrator', 'moderator', 'member', 'member2', 'guest'] as const;
  const anybody = (): Client => realm[pick(names)];
  /** Users who are created, deactivated, and change their address, beside the followers. */
  const extras: Client[] = [await realm.person(), await realm.person(), await realm.person({ role: 'guest' })];
  const bots: number[] = [];
  const anyId = (): number => pick([...names.map((name) => realm[name].user_id), ...extras.map((one) => one.user_id)]);
  const choices: Record<string, Json[]> = {
    enter_sends: [true, false],
    color_scheme: [1, 2, 3],
    default_language: ['en', 'de', 'es', 'fr', 'ja'],
    timezone: ['Europe/Berlin', 'Asia/Tokyo', ''],
    enable_sounds: [true, false],
    notification_sound: ['ding', 'none', 'zulip'],
    presence_enabled: [true, false],
    email_address_visibility: [1, 2, 3, 4, 5],
    twenty_four_hour_time: [true, false],
    web_channel_default_view: [1, 2, 3, 4],
  };
  const setting = (): Json => {
    const name = pick(Object.keys(choices));
    return { [name]: pick(choices[name] ?? []) };
  };
  const visibility = (): Json => ({ email_address_visibility: pick([1, 2, 3, 4, 5]) });

  for (const name of ['one', 'two']) await realm.owner.ok('POST', '/channels/create', { name, subscribers: [] });
  const operations: (() => Promise<unknown>)[] = [
    () => anybody().patch('/settings', setting()),
    () => anybody().patch('/settings', setting()),
    () => pick(extras).patch('/settings', visibility()),
    () => anybody().patch('/settings', visibility()),
    () => anybody().patch('/settings', { full_name: `Name ${number(1e6)}` }),
    () => {
      const { timezone, default_language, ...shared } = setting();
      return realm.owner.patch('/realm/user_settings_defaults', shared);
    },
    () => anybody().post('/users/me/status', { status_text: pick(['', 'busy', 'out']) }),
    () => anybody().post('/users/me/status', { emoji_name: pick(['', 'smile', 'car']) }),
    () => anybody().post('/users/me/status', { away: random() < 0.5 }),
    () => realm.owner.post(`/users/${anyId()}/status`, { status_text: pick(['', 'sick']) }),
    () => anybody().post(`/users/me/muted_users/${anyId()}`),
    () => anybody().delete(`/users/me/muted_users/${anyId()}`),
    () => anybody().post('/users/me/alert_words', { alert_words: [`word${number(5)}`] }),
    () => anybody().delete('/users/me/alert_words', { alert_words: [`word${number(5)}`] }),
    () => realm.owner.patch(`/users/${anyId()}`, { full_name: `Renamed ${number(1e6)}` }),
    () => realm.owner.patch(`/users/${pick(extras).user_id}`, { new_email: `e${number(1e6)}@${realm.host}` }),
    () => realm.owner.patch(`/users/${pick(bots)}`, { new_email: `b${number(1e6)}-bot@${realm.host}` }),
    () =>
      realm.owner.patch(`/users/${realm[pick(['moderator', 'member', 'member2', 'guest'] as const)].user_id}`, {
        role: pick([200, 300, 400, 600]),
      }),
    () => realm.owner.patch(`/users/${pick(extras).user_id}`, { role: pick([100, 200, 400, 600]) }),
    () => realm.owner.delete(`/users/${pick(extras).user_id}`),
    () => realm.owner.post(`/users/${pick(extras).user_id}/reactivate`),
    async () => {
      const n = number(1e6);
      const form = { full_name: `Bot ${n}`, short_name: `bot${n}`, bot_type: pick([1, 2]) };
      const { status, body } = await pick([anybody(), pick(extras)]).post('/bots', form);
      if (status === 200) bots.push(body.user_id);
    },
    () => realm.owner.patch(`/bots/${pick(bots)}`, { full_name: `Bot ${number(1e6)}` }),
    () => realm.owner.patch(`/bots/${pick(bots)}`, { bot_owner_id: anyId() }),
    () => realm.owner.patch(`/bots/${pick(bots)}`, { default_sending_stream: pick(['one', 'two', '']) }),
    () => anybody().patch(`/bots/${pick(bots)}`, { default_all_public_streams: random() < 0.5 }),
    () => realm.owner.post(`/bots/${pick(bots)}/api_key/regenerate`),
    () => (random() < 0.5 ? realm.owner.delete(`/bots/${pick(bots)}`) : Promise.resolve()),
    () => realm.owner.post(`/users/${pick(bots)}/reactivate`),
    () => uploadTo(anybody(), '/users/me/avatar'),
    () => anybody().delete('/users/me/avatar'),
    () => realm.person({ role: pick(['member', 'guest'] as const) }),
  ];

  const keeping = { stateOf, apply, comparable };
  const followers: Follower<State>[] = [];
  const follow = async (): Promise<void> => {
    const client = anybody();
    const client_capabilities = { user_settings_object: random() < 0.7 };
    const form = { event_types: followed, fetch_event_types: fetched, client_gravatar: false, client_capabilities };
    followers.push(await follower(client, form, keeping));
  };
  for (let round = 0; round < 80; round++)
    await Promise.all([
      pick(operations)(),
      pick(operations)(),
      pick(operations)(),
      round % 5 === 0 ? follow() : undefined,
    ]);

  const counts = await expectFreshStates(followers, keeping);
  console.log(`${followers.length} followers`, counts);
  expect(followers.length).toBe(16);
});

test('state plus events equals a fresh register for a member who becomes a guest that sees few people, and back', async () => {
  const realm = await openRealm();
  const { owner, member } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  // A guest sees neither this person nor the address; a member sees both.
  const shy = await realm.person();
  await shy.ok('PATCH', '/settings', { email_address_visibility: 2 });
  await shy.ok('POST', '/users/me/status', { status_text: 'busy' });
  const keeping = { stateOf, apply, comparable };
  const followers: Follower<State>[] = [];
  for (const user_list_incomplete of [true, false]) {
    const client_capabilities = { user_list_incomplete, user_settings_object: true };
    const form = { event_types: followed, fetch_event_types: fetched, client_gravatar: false, client_capabilities };
    followers.push(await follower(member, form, keeping));
  }
  for (const role of [600, 400]) {
    await owner.ok('PATCH', `/users/${member.user_id}`, { role });
    await expectFreshStates(followers, keeping);
  }
});

test('a changed address of a bot is announced to its owner and to administrators', async () => {
  const realm = await openRealm();
  const { owner, administrator, member, member2 } = realm;
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Bot', short_name: 'bot', bot_type: 1 });
  const queues = await Promise.all([member, administrator].map((who) => who.queue({ event_types: ['realm_bot'] })));
  const other = await member2.queue({ event_types: ['realm_bot', 'realm_user'] });
  const email = `other-bot@${realm.host}`;
  await owner.ok('PATCH', `/users/${user_id}`, { new_email: email });
  await owner.ok('PATCH', `/users/${user_id}`, { full_name: 'Last' });
  for (const queue of queues) {
    await queue.next(({ bot }) => bot.full_name !== undefined);
    expect(queue.seen.map(({ op, bot }) => [op, bot])).toEqual([
      ['update', { user_id, email }],
      ['update', { user_id, full_name: 'Last' }],
    ]);
  }
  await other.next(({ person }) => person?.full_name !== undefined);
  expect(other.seen.map(({ type }) => type)).not.toContain('realm_bot');
});
