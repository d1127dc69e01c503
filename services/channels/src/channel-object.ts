import type { SystemGroupName } from '@natter/contracts';
import type { ChannelRow } from './channel-row.ts';

export type SystemGroups = Readonly<Partial<Record<SystemGroupName, number>>>;

/** The channel as every client that may know it sees it (specification 2.3); what is personal is added by `toSubscription`. */
export function toChannel(row: ChannelRow, systemGroups: SystemGroups = {}): Record<string, unknown> {
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
    ...row.permissions,
  };
}

/** The deprecated reading of who may post: 1 everyone, 2 administrators, 3 full members, 4 moderators; any other group reads as 1. */
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

export interface PersonalPart {
  color: string;
  is_muted: boolean;
  pin_to_top: boolean;
}

export function toSubscription(
  row: ChannelRow,
  personal: PersonalPart,
  subscribers: number[] | undefined,
): Record<string, unknown> {
  return {
    ...toChannel(row),
    ...(subscribers === undefined ? {} : { subscribers }),
    desktop_notifications: null,
    email_notifications: null,
    push_notifications: null,
    audible_notifications: null,
    wildcard_mentions_notify: null,
    pin_to_top: personal.pin_to_top,
    is_muted: personal.is_muted,
    in_home_view: !personal.is_muted,
    color: personal.color,
  };
}

const palette = [
  '#76ce90',
  '#fae589',
  '#a6c7e5',
  '#e79ab5',
  '#bfd56f',
  '#f4ae55',
  '#b0a5fd',
  '#addfe5',
  '#f5ce6e',
  '#c2726a',
  '#94c849',
  '#bd86e5',
  '#ee7e4a',
  '#a6dcbf',
  '#95a5fd',
  '#53a063',
  '#9987e1',
  '#e4523d',
  '#c2c2c2',
  '#4f8de4',
  '#c6a8ad',
  '#e7cc4d',
  '#c8bebf',
  '#a47462',
] as const;

export const colorOf = (channelId: number): string => palette[channelId % palette.length] ?? palette[0];
