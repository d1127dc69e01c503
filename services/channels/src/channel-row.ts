import { sql } from '@natter/database';
import { z } from 'zod';

export const channelRow = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  rendered_description: z.string(),
  creator_id: z.number().nullable(),
  is_private: z.boolean(),
  is_archived: z.boolean(),
  history_public: z.boolean(),
  created_at: z.date(),
});
export type ChannelRow = z.infer<typeof channelRow>;

export const channelColumns = sql.fragment`c.id, c.name, c.description, c.rendered_description, c.creator_id, c.is_private, c.is_archived, c.history_public, c.created_at`;

/** The channel as every client sees it; the personal part of a subscription is added by `toSubscription`. */
export function toChannel(row: ChannelRow): Record<string, unknown> {
  return {
    stream_id: row.id,
    name: row.name,
    is_archived: row.is_archived,
    description: row.description,
    rendered_description: row.rendered_description,
    date_created: Math.floor(row.created_at.getTime() / 1000),
    creator_id: row.creator_id,
    invite_only: row.is_private,
    is_web_public: false,
    stream_post_policy: 1,
    is_announcement_only: false,
    message_retention_days: null,
    history_public_to_subscribers: row.history_public,
    topics_policy: 'inherit',
    first_message_id: null,
    folder_id: null,
    is_recently_active: true,
    stream_weekly_traffic: null,
  };
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
