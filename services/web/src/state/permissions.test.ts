import { expect, test } from 'vitest';
import type { Model } from './model.ts';
import {
  may,
  mayChangeMembers,
  mayDelete,
  mayInviteAs,
  mayMoveOut,
  mayMoveWithin,
  mayResolve,
  type PostingProblem,
  postingProblem,
} from './permissions.ts';
import { directPlace, type Message, topicPlace } from './place.ts';
import type { Group, GroupSetting } from './writing-snapshot.ts';

const reader = 7;
const [nobody, members, makers, admins] = [1, 2, 3, 4];
const group = (id: number, people: number[], subgroups: number[] = [], given: Partial<Group> = {}): Group => ({
  id,
  name: `group ${id}`,
  description: '',
  members: new Set(people),
  subgroups,
  isSystem: false,
  permissions: {},
  ...given,
});
const noRights = {
  can_delete_any_message_group: nobody,
  can_delete_own_message_group: nobody,
  can_resolve_topics_group: nobody,
  can_move_messages_within_channel_group: nobody,
  can_move_messages_out_of_channel_group: nobody,
  can_administer_channel_group: nobody,
  can_send_message_group: nobody,
};

interface Given {
  realm?: Record<string, GroupSetting>;
  channel?: Record<string, GroupSetting>;
  isGuest?: boolean;
  isAdministrator?: boolean;
}

function modelWith({ realm = {}, channel = {}, isGuest = false, isAdministrator = false }: Given): Model {
  const groups = [
    group(nobody, [], [], { name: 'role:nobody' }),
    group(members, [], [makers]),
    group(makers, [reader]),
    group(admins, [1]),
  ];
  return {
    ownId: reader,
    rules: { isGuest, isAdministrator, deleteSeconds: 60 },
    realm: {
      permissions: realm,
      permissionRules: { realm: { open: { allow_everyone_group: true } }, stream: {}, group: {} },
    },
    people: new Map([
      [reader, { isBot: false, isActive: true, role: 300 }],
      [8, { isBot: false, isActive: true, role: 400 }],
      [9, { isBot: true, isActive: true, role: 400 }],
      [10, { isBot: false, isActive: false, role: 400 }],
      [11, { isBot: true, isActive: false, role: 400 }],
    ]),
    channels: new Map([[5, { id: 5, permissions: { ...noRights, ...channel } }]]),
    writing: { groups: new Map(groups.map((one) => [one.id, one])) },
  } as unknown as Model;
}

test.each<[GroupSetting, boolean]>([
  [makers, true],
  [members, true],
  [admins, false],
  [nobody, false],
  [{ direct_members: [reader], direct_subgroups: [] }, true],
  [{ direct_members: [8], direct_subgroups: [members] }, true],
  [{ direct_members: [8], direct_subgroups: [admins] }, false],
])('the permission of %j: %s', (value, expected) => {
  expect(may(modelWith({ realm: { any: value } }), 'any')).toBe(expected);
});

test('guests have only permissions that include guests', () => {
  const model = modelWith({ realm: { open: makers, closed: makers }, isGuest: true });
  expect([may(model, 'open'), may(model, 'closed'), may(model, 'unknown')]).toEqual([true, false, false]);
});

const message = (sender: number, timestamp: number): Message =>
  ({ id: 1, type: 'stream', stream_id: 5, subject: 'T', sender_id: sender, timestamp }) as unknown as Message;
const now = 100_000;

test.each<[string, Given, number, boolean]>([
  ['own ones, in time', { realm: { can_delete_own_message_group: makers } }, 90, true],
  ['own ones, too late', { realm: { can_delete_own_message_group: makers } }, 30, false],
  ['own ones, by the channel', { channel: { can_delete_own_message_group: makers } }, 90, true],
  ['own ones, without permission', {}, 90, false],
])('the permission to delete %s', (_, given, sent, expected) => {
  expect(mayDelete(modelWith(given), message(reader, sent), now)).toBe(expected);
  expect(mayDelete(modelWith(given), message(8, sent), now)).toBe(false);
});

test('the organization or the channel can permit users to delete messages of others', () => {
  const name = 'can_delete_any_message_group';
  expect(mayDelete(modelWith({ realm: { [name]: makers } }), message(8, 0), now)).toBe(true);
  expect(mayDelete(modelWith({ channel: { [name]: makers } }), message(8, 0), now)).toBe(true);
});

test('administrators of a channel move its messages, but do not resolve its topics', () => {
  const place = topicPlace(5, 'T');
  const all = (given: Given) => {
    const model = modelWith(given);
    return [mayMoveWithin(model, place), mayMoveOut(model, place), mayResolve(model, place)];
  };
  expect(all({})).toEqual([false, false, false]);
  expect(all({ isAdministrator: true })).toEqual([true, true, false]);
  expect(all({ channel: { can_administer_channel_group: makers } })).toEqual([true, true, false]);
  expect(all({ realm: { can_resolve_topics_group: makers } })).toEqual([false, false, true]);
  expect(all({ channel: { can_move_messages_within_channel_group: makers } })).toEqual([true, false, false]);
});

test('nobody invites to a role above their own', () => {
  const model = modelWith({});
  expect([100, 200, 300, 400, 600].filter((role) => mayInviteAs(model, role))).toEqual([300, 400, 600]);
  expect(mayInviteAs({ ...model, ownId: 12 }, 600)).toBe(false);
});

test('the settings of a group control joining and leaving, but system groups cannot be changed', () => {
  const permissions = { can_manage_group: nobody, can_join_group: makers, can_leave_group: makers };
  const open = group(9, [], [], { permissions });
  const model = modelWith({});
  expect(mayChangeMembers(model, open)).toEqual({ add: false, remove: false, join: true, leave: true });
  const managed = group(9, [], [], { permissions: { ...permissions, can_manage_group: makers } });
  expect(mayChangeMembers(model, managed)).toEqual({ add: true, remove: true, join: true, leave: true });
  const closed = { ...managed, isSystem: true };
  expect(mayChangeMembers(model, closed)).toEqual({ add: false, remove: false, join: false, leave: false });
});

test('messages are refused in a channel whose permission excludes the reader', () => {
  const problemOf = (given: Given) => postingProblem(modelWith(given), topicPlace(5, 'T'), false);
  expect(problemOf({ channel: { can_send_message_group: makers } })).toBeUndefined();
  expect(problemOf({ channel: { can_send_message_group: admins } })).toBe('channel');
  expect(problemOf({ channel: { can_send_message_group: admins }, isAdministrator: true })).toBe('channel');
  expect(postingProblem(modelWith({}), topicPlace(6, 'T'), false)).toBeUndefined();
});

test.each<
  [string, GroupSetting, GroupSetting, number[], [old: PostingProblem | undefined, isNew: PostingProblem | undefined]]
>([
  ['everybody may', members, members, [8], [undefined, undefined]],
  ['the other one authorizes', { direct_members: [8], direct_subgroups: [] }, members, [8], [undefined, undefined]],
  ['nobody in it authorizes', admins, members, [8], ['direct unauthorized', 'direct unauthorized']],
  ['nobody at all may', nobody, members, [8], ['direct disabled', 'direct disabled']],
  ['others begin conversations', members, admins, [8], [undefined, 'direct new']],
  ['the other one is a bot', nobody, admins, [9], [undefined, undefined]],
  ['a bot is among the others', nobody, members, [8, 9], ['direct disabled', 'direct disabled']],
  ['the reader is alone', nobody, admins, [], [undefined, undefined]],
  ['the other one is deactivated', members, members, [10], ['deactivated', 'deactivated']],
  ['one of the others is deactivated', nobody, members, [8, 10], ['deactivated', 'deactivated']],
  ['the other one is a deactivated bot', members, members, [11], ['deactivated', 'deactivated']],
])('a direct message where %s', (...[, authorizing, initiating, people, expected]) => {
  const realm = { direct_message_permission_group: authorizing, direct_message_initiator_group: initiating };
  const problems = [false, true].map((isNew) =>
    postingProblem(modelWith({ realm }), directPlace(people, reader), isNew),
  );
  expect(problems).toEqual(expected);
});
