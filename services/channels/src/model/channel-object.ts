import type { ChannelObject, ChannelPermissions, SystemGroupName } from '@natter/contracts';
import { shownSettings, usersNamed } from '@natter/permissions';
import type { ChannelRow } from './channel-row.ts';
import { type Directory, systemGroupsOf } from './directory/directory.ts';

export type SystemGroups = Readonly<Partial<Record<SystemGroupName, number>>>;

/** The parts of the directory on which channel objects depend. */
export interface ChannelContext {
  systemGroups: SystemGroups;
  inactive: Directory['inactive'];
}

export const contextOf = (directory: Directory): ChannelContext => ({
  systemGroups: systemGroupsOf(directory),
  inactive: directory.inactive,
});

/** The permissions as clients are shown them: without deactivated users. */
export const shownPermissions = (
  { permissions }: Pick<ChannelRow, 'permissions'>,
  inactive: Pick<ReadonlySet<number>, 'has'>,
): ChannelPermissions => shownSettings(permissions, inactive);

/** The channel object for all users who can see it; a subscription adds personal fields. */
export function toChannel(
  row: ChannelRow,
  { systemGroups, inactive }: ChannelContext,
  subscriberCount: number = row.subscriber_count,
): ChannelObject {
  const permissions = shownPermissions(row, inactive);
  const policy = streamPostPolicy({ permissions }, systemGroups);
  return {
    stream_id: row.id,
    name: row.name,
    is_archived: row.is_archived,
    description: row.description,
    rendered_description: row.rendered_description,
    date_created: Math.floor(row.created_at.getTime() / 1000),
    creator_id: row.creator_id,
    invite_only: row.is_private,
    is_web_public: row.is_web_public,
    stream_post_policy: policy,
    is_announcement_only: policy === 2,
    message_retention_days: row.message_retention_days,
    history_public_to_subscribers: row.history_public,
    topics_policy: row.topics_policy,
    first_message_id: row.first_message_id,
    folder_id: row.folder_id,
    is_recently_active: row.is_recently_active,
    stream_weekly_traffic: row.weekly_traffic,
    subscriber_count: subscriberCount,
    ...permissions,
  };
}

/** The text of a channel object, the context in which it is valid, and the users whom the permissions name. */
interface ChannelText {
  key: string;
  text: string;
  named: readonly number[];
}

const texts = new WeakMap<ChannelRow, ChannelText>();

/** The same as JSON, serialized once per row while the context does not change. */
export function channelTexts(context: ChannelContext): (row: ChannelRow) => string {
  const groups = JSON.stringify(context.systemGroups);
  return (row) => {
    const written = texts.get(row);
    const named = written?.named ?? [...new Set(Object.values(row.permissions).flatMap(usersNamed))];
    const key = `${groups} ${named.filter((id) => context.inactive.has(id)).join()}`;
    if (written?.key === key) return written.text;
    const text = JSON.stringify(toChannel(row, context));
    texts.set(row, { key, text, named });
    return text;
  };
}

/**
 * The deprecated field for who may post: 1 everyone, 2 administrators, 3 full members, 4 moderators; any other group
 * maps to 1.
 */
export function streamPostPolicy({ permissions }: Pick<ChannelRow, 'permissions'>, systemGroups: SystemGroups): number {
  switch (permissions.can_send_message_group) {
    case systemGroups['role:administrators']:
      return 2;
    case systemGroups['role:fullmembers']:
      return 3;
    case systemGroups['role:moderators']:
      return 4;
    default:
      return 1;
  }
}
