import type { ChannelObject, SystemGroupName } from '@natter/contracts';
import type { ChannelRow } from './channel-row.ts';

export type SystemGroups = Readonly<Partial<Record<SystemGroupName, number>>>;

/** The channel object for all users who can see it; a subscription adds personal fields. */
export function toChannel(
  row: ChannelRow,
  systemGroups: SystemGroups,
  subscriberCount: number = row.subscriber_count,
): ChannelObject {
  const policy = streamPostPolicy(row, systemGroups);
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
    ...row.permissions,
  };
}

const texts = new WeakMap<ChannelRow, { groups: string; text: string }>();

/** The same as JSON, serialized once per row. */
export function channelTexts(systemGroups: SystemGroups): (row: ChannelRow) => string {
  const groups = JSON.stringify(systemGroups);
  return (row) => {
    const written = texts.get(row);
    if (written?.groups === groups) return written.text;
    const text = JSON.stringify(toChannel(row, systemGroups));
    texts.set(row, { groups, text });
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
