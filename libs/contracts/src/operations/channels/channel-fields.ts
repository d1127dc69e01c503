import { z } from 'zod';
import { channelPermissionsSchema } from '../../vocabulary/channel-permissions.ts';

const int = z.int();
const bool = z.boolean();
const str = z.string();

export const channelFields = {
  stream_id: int,
  name: str.describe('The name of the channel.'),
  is_archived: bool,
  description: str,
  rendered_description: str,
  date_created: int,
  creator_id: int.nullable(),
  invite_only: bool,
  is_web_public: bool,
  stream_post_policy: z.int().min(1).max(4),
  is_announcement_only: bool,
  message_retention_days: int.nullable(),
  history_public_to_subscribers: bool,
  topics_policy: z.enum(['inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only']),
  first_message_id: int.nullable(),
  folder_id: int.nullable(),
  is_recently_active: bool,
  stream_weekly_traffic: int.nullable(),
  subscriber_count: int,
  ...channelPermissionsSchema.shape,
};

/** Fields that a channel also has in the list of its subscriber. */
export const ownFields = {
  desktop_notifications: bool.nullable(),
  email_notifications: bool.nullable(),
  push_notifications: bool.nullable(),
  audible_notifications: bool.nullable(),
  wildcard_mentions_notify: bool
    .nullable()
    .describe(
      'Whether a mention of all subscribers notifies like a personal mention; null takes the setting of the user.',
    ),
  pin_to_top: bool,
  is_muted: bool,
  in_home_view: bool,
  color: str,
};

export const folderFields = {
  id: int.describe('The ID of the folder of channels.'),
  name: str.describe('The name of the folder.'),
  description: str,
  rendered_description: str,
  date_created: int.nullable(),
  creator_id: int.nullable(),
  order: int.describe('The position of the folder among the others.'),
  is_archived: bool,
};
