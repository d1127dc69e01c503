import type { Bot } from './bots.ts';
import type { ChannelPermission } from './members.ts';
import type { Model } from './model.ts';
import { type Message, type Place, placeOf } from './place.ts';
import type { PermissionLevel } from './realm.ts';
import { isInTime } from './rules.ts';
import type { Group, GroupSetting } from './writing-snapshot.ts';

/** These functions decide what the page offers. The server checks again. */
type Reader = Pick<Model, 'ownId' | 'rules' | 'realm' | 'writing' | 'channels'>;

/** Whether the reader is in a group, or in one of its subgroups. */
function isIn(groups: ReadonlyMap<number, Group>, ownId: number, id: number, seen = new Set<number>()): boolean {
  const group = groups.get(id);
  if (!group || seen.has(id)) return false;
  seen.add(id);
  return group.members.has(ownId) || group.subgroups.some((one) => isIn(groups, ownId, one, seen));
}

/** Whether a permission includes the reader. Most permissions exclude guests, even those in a permitted group. */
export function isPermitted(
  { ownId, rules, realm, writing }: Reader,
  level: PermissionLevel,
  name: string,
  value: GroupSetting | undefined,
): boolean {
  if (value === undefined) return false;
  if (rules.isGuest && realm.permissionRules[level][name]?.allow_everyone_group !== true) return false;
  if (typeof value === 'number') return isIn(writing.groups, ownId, value);
  return value.direct_members.includes(ownId) || value.direct_subgroups.some((id) => isIn(writing.groups, ownId, id));
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

/** Neither an administrator nor an owner may change a bot above their own role. */
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
