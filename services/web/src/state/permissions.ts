import type { Bot } from './bots.ts';
import type { ChannelPermission } from './members.ts';
import type { Model } from './model.ts';
import { type Message, type Place, placeOf } from './place.ts';
import { isInTime } from './rules.ts';
import type { PermissionLevel } from './snapshot.ts';
import type { Group, GroupSetting } from './writing-snapshot.ts';

/** These functions decide which actions the page offers. The server checks again. */
type Reader = Pick<Model, 'ownId' | 'rules' | 'realm' | 'writing' | 'channels'>;

type Groups = ReadonlyMap<number, Group>;

/** Whether a user is in a group, or in one of its subgroups. */
function isIn(groups: Groups, userId: number, id: number, seen = new Set<number>()): boolean {
  const group = groups.get(id);
  if (!group || seen.has(id)) return false;
  seen.add(id);
  return group.members.has(userId) || group.subgroups.some((one) => isIn(groups, userId, one, seen));
}

/** Whether a permission names a user, or a group with them. */
const isNamed = (groups: Groups, userId: number, value: GroupSetting): boolean =>
  typeof value === 'number'
    ? isIn(groups, userId, value)
    : value.direct_members.includes(userId) || value.direct_subgroups.some((id) => isIn(groups, userId, id));

/** Whether a permission includes the reader. Most permissions exclude guests, even those in a permitted group. */
export function isPermitted(
  { ownId, rules, realm, writing }: Reader,
  level: PermissionLevel,
  name: string,
  value: GroupSetting | undefined,
): boolean {
  if (value === undefined) return false;
  if (rules.isGuest && realm.permissionRules[level][name]?.allow_everyone_group !== true) return false;
  return isNamed(writing.groups, ownId, value);
}

/** Whether the reader has a permission of the organization. */
export const may = (reader: Reader, name: string): boolean =>
  isPermitted(reader, 'realm', name, reader.realm.permissions[name]);

/** Whether the reader has a permission in a place: by the organization, or by the channel. */
function mayHere(reader: Reader, place: Place, inRealm: string, inChannel: ChannelPermission): boolean {
  if (may(reader, inRealm)) return true;
  const channel = place.kind === 'topic' ? reader.channels.get(place.channelId) : undefined;
  return channel !== undefined && isPermitted(reader, 'stream', inChannel, channel.permissions[inChannel]);
}

export function mayDelete(reader: Reader, message: Message, now: number): boolean {
  const place = placeOf(message, reader.ownId);
  const [any, own] = ['can_delete_any_message_group', 'can_delete_own_message_group'] as const;
  if (mayHere(reader, place, any, any)) return true;
  return (
    message.sender_id === reader.ownId &&
    mayHere(reader, place, own, own) &&
    isInTime(message, reader.rules.deleteSeconds, now)
  );
}

const administers = (reader: Reader, place: Place): boolean => {
  const channel = place.kind === 'topic' ? reader.channels.get(place.channelId) : undefined;
  const name = 'can_administer_channel_group';
  return (
    channel !== undefined &&
    (reader.rules.isAdministrator || isPermitted(reader, 'stream', name, channel.permissions[name]))
  );
};

/** The time limits of moves are left to the server. */
export const mayMoveWithin = (reader: Reader, place: Place): boolean =>
  administers(reader, place) ||
  mayHere(reader, place, 'can_move_messages_between_topics_group', 'can_move_messages_within_channel_group');

export const mayMoveOut = (reader: Reader, place: Place): boolean =>
  administers(reader, place) ||
  mayHere(reader, place, 'can_move_messages_between_channels_group', 'can_move_messages_out_of_channel_group');

export const mayResolve = (reader: Reader, place: Place): boolean =>
  mayHere(reader, place, 'can_resolve_topics_group', 'can_resolve_topics_group');

/** The people whose accounts are deactivated. One of them is enough for the server to refuse messages to all. */
export const deactivatedOf = (people: Model['people'], ids: readonly number[]): number[] =>
  ids.filter((id) => people.get(id)?.isActive === false);

export type PostingProblem = 'channel' | 'deactivated' | 'direct disabled' | 'direct unauthorized' | 'direct new';

/**
 * The reason why the server would refuse messages of the reader in a place. `isNew`: nobody has written in the conversation.
 */
export function postingProblem(
  reader: Reader & Pick<Model, 'people'>,
  place: Place,
  isNew: boolean,
): PostingProblem | undefined {
  const { ownId, people, realm, writing } = reader;
  if (place.kind === 'topic') {
    const channel = reader.channels.get(place.channelId);
    const name = 'can_send_message_group';
    return channel && !isPermitted(reader, 'stream', name, channel.permissions[name]) ? 'channel' : undefined;
  }
  const others = place.userIds.filter((id) => id !== ownId);
  if (deactivatedOf(people, others).length > 0) return 'deactivated';
  if (others.every((id) => people.get(id)?.isBot === true)) return undefined;
  const authorizing = realm.permissions.direct_message_permission_group;
  if (authorizing !== undefined && ![ownId, ...others].some((id) => isNamed(writing.groups, id, authorizing))) {
    const isNobody = typeof authorizing === 'number' && writing.groups.get(authorizing)?.name === 'role:nobody';
    return isNobody ? 'direct disabled' : 'direct unauthorized';
  }
  return isNew && !may(reader, 'direct_message_initiator_group') ? 'direct new' : undefined;
}

const owner = 100;
export const isOwner = ({ ownId, people }: Pick<Model, 'ownId' | 'people'>): boolean =>
  people.get(ownId)?.role === owner;

/** The settings and permissions of the organization that only owners change. */
const ownersOnly: ReadonlySet<string> = new Set([
  'emails_restricted_to_domains',
  'disallow_disposable_email_addresses',
  'invite_required',
  'waiting_period_threshold',
  'create_multiuse_invite_group',
  'can_create_groups',
  'can_invite_users_group',
  'can_manage_all_groups',
  'can_manage_billing_group',
]);

export const mayChangeInRealm = (reader: Pick<Model, 'ownId' | 'people' | 'rules'>, name: string): boolean =>
  ownersOnly.has(name) ? isOwner(reader) : reader.rules.isAdministrator;

/** Whether a user may invite to a role: their own or a lower one. A smaller number is a higher role. */
export const mayInviteAs = ({ ownId, people }: Pick<Model, 'ownId' | 'people'>, role: number): boolean =>
  role >= (people.get(ownId)?.role ?? Number.POSITIVE_INFINITY);

/** Whether the reader may change a bot: an administrator or its owner, unless the bot has a higher role than theirs. */
export const mayManageBot = ({ ownId, rules, people }: Pick<Model, 'ownId' | 'rules' | 'people'>, bot: Bot): boolean =>
  (rules.isAdministrator || bot.ownerId === ownId) &&
  (people.get(bot.id)?.role ?? 0) >= (people.get(ownId)?.role ?? Number.POSITIVE_INFINITY);

export const mayManageGroup = (reader: Reader, { isSystem, permissions }: Group): boolean =>
  !isSystem &&
  (may(reader, 'can_manage_all_groups') ||
    isPermitted(reader, 'group', 'can_manage_group', permissions.can_manage_group));

/** Whether the reader may put others into a group, or take them away, or do so with themselves alone. */
export function mayChangeMembers(reader: Reader, group: Group): Record<'add' | 'remove' | 'join' | 'leave', boolean> {
  const has = (name: string): boolean => isPermitted(reader, 'group', name, group.permissions[name]);
  const isManager = mayManageGroup(reader, group);
  const add = isManager || (!group.isSystem && has('can_add_members_group'));
  const remove = isManager || (!group.isSystem && has('can_remove_members_group'));
  return {
    add,
    remove,
    join: add || (!group.isSystem && has('can_join_group')),
    leave: remove || (!group.isSystem && has('can_leave_group')),
  };
}
