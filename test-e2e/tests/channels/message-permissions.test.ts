import type { Client, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, openQuietRealm, systemGroups } from './setting.ts';

/**
 * The channel permissions on messages, in a realm that grants none of them: each is tried by members of its group,
 * including a guest, by others, by administrators of the channel and of the realm, and by a member of the group without
 * access to the channel.
 */
let realm: Realm;
let target: number;
let channelAdministrator: Client;
let outsider: Client;
beforeAll(async () => {
  realm = await openQuietRealm();
  const groups = await systemGroups(realm);
  const nobody = { new: groups['role:nobody'] };
  await realm.owner.ok('PATCH', '/realm', {
    can_delete_any_message_group: nobody,
    can_delete_own_message_group: nobody,
    can_move_messages_between_topics_group: nobody,
    can_move_messages_between_channels_group: nobody,
    can_resolve_topics_group: nobody,
  });
  channelAdministrator = await realm.person();
  outsider = await realm.person();
  target = await channel(realm.owner, [realm.guest]);
});

let count = 0;
const send = async (who: Client, to: number): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic: `topic ${++count}`, content: 'x' })).id;

type Try = (who: Client, message: number, own: number | undefined) => Promise<{ status: number }>;
const settings: [string, Try, isForChannelAdministrators: boolean][] = [
  ['can_delete_any_message_group', (who, message) => who.delete(`/messages/${message}`), false],
  ['can_delete_own_message_group', (who, message, own) => who.delete(`/messages/${own ?? message}`), false],
  [
    'can_move_messages_within_channel_group',
    (who, message) => who.patch(`/messages/${message}`, { topic: `elsewhere ${++count}` }),
    true,
  ],
  [
    'can_move_messages_out_of_channel_group',
    (who, message) => who.patch(`/messages/${message}`, { stream_id: target }),
    true,
  ],
  [
    'can_resolve_topics_group',
    (who, message) => who.patch(`/messages/${message}`, { topic: `✔ topic ${count}`, propagate_mode: 'change_all' }),
    false,
  ],
];

test.each(settings)(
  '%s allows the action to its members who have access to the channel',
  async (name, attempt, isForChannelAdministrators) => {
    const { owner, administrator, moderator, member, member2, guest } = realm;
    const inside = { administrator, moderator, member, member2, guest, channelAdministrator };
    const people = { ...inside, outsider };
    const value = (...named: Client[]) => ({
      direct_members: named.map(({ user_id }) => user_id),
      direct_subgroups: [],
    });
    const at = await channel(owner, [owner, ...Object.values(inside)], {
      invite_only: true,
      [name]: value(member, guest, outsider),
      can_administer_channel_group: value(channelAdministrator),
    });
    const may: Record<string, boolean> = {};
    for (const [who, person] of Object.entries(people)) {
      const own = person === outsider ? undefined : await send(person, at);
      may[who] = (await attempt(person, await send(owner, at), own)).status === 200;
    }
    expect(may).toEqual({
      administrator: isForChannelAdministrators,
      moderator: false,
      member: true,
      member2: false,
      guest: true,
      channelAdministrator: isForChannelAdministrators,
      outsider: false,
    });
  },
);

test.each([
  ['can_move_messages_within_channel_group', 'renamed'],
  ['can_resolve_topics_group', '✔'],
])('a move to another channel may change the topic if %s of either channel allows it', async (name, prefix) => {
  const { owner, member } = realm;
  const value = (userIds: number[]) => ({ direct_members: userIds, direct_subgroups: [] });
  const open = (holders: number[]): Promise<number> => {
    const form = { [name]: value(holders), can_move_messages_out_of_channel_group: value([member.user_id]) };
    return channel(owner, [owner, member], form);
  };
  const [without, within, elsewhere] = [await open([]), await open([member.user_id]), await open([])];
  const move = async (from: number, stream_id: number): Promise<number> => {
    const form = { topic: `${prefix} topic ${count + 1}`, stream_id, propagate_mode: 'change_all' };
    return (await member.patch(`/messages/${await send(owner, from)}`, form)).status;
  };
  expect(await move(without, within)).toBe(200);
  expect(await move(within, without)).toBe(200);
  expect(await move(without, elsewhere)).toBe(400);
});
