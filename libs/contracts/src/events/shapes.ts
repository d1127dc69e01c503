import { z } from 'zod';

/** Objects that events carry. Loose: more fields may follow, those named must be there. */
export const int = z.int();
export const bool = z.boolean();
export const str = z.string();
const group = z.union([int, z.object({ direct_members: z.array(int), direct_subgroups: z.array(int) })]);
const rtype = z.enum(['private', 'stream']);
const emoji = { emoji_name: str, emoji_code: str, reaction_type: z.string() };

export const message = z.looseObject({
  id: int,
  avatar_url: str.nullable(),
  client: str,
  content: str,
  content_type: z.enum(['text/html', 'text/x-markdown']),
  display_recipient: z.union([
    str,
    z.array(z.looseObject({ id: int, email: str, full_name: str, is_mirror_dummy: bool })),
  ]),
  is_me_message: bool,
  reactions: z.array(z.looseObject({ ...emoji, user_id: int })),
  recipient_id: int,
  sender_email: str,
  sender_full_name: str,
  sender_id: int,
  sender_realm_str: str,
  subject: str,
  submessages: z.array(z.looseObject({})),
  timestamp: int,
  topic_links: z.array(z.object({ text: str, url: str })),
  type: rtype,
});

export const channel = z.looseObject({
  stream_id: int,
  name: str,
  is_archived: bool,
  description: str,
  rendered_description: str,
  date_created: int,
  creator_id: int.nullable(),
  invite_only: bool,
  is_web_public: bool,
  stream_post_policy: int,
  message_retention_days: int.nullable(),
  history_public_to_subscribers: bool,
  first_message_id: int.nullable(),
  is_announcement_only: bool,
  can_remove_subscribers_group: group,
});

export const subscription = channel.extend({
  subscribers: z.array(int),
  desktop_notifications: bool.nullable(),
  email_notifications: bool.nullable(),
  push_notifications: bool.nullable(),
  audible_notifications: bool.nullable(),
  wildcard_mentions_notify: bool.nullable(),
  pin_to_top: bool,
  is_muted: bool,
  in_home_view: bool,
  color: str,
});

export const user = z.looseObject({
  user_id: int,
  email: str,
  full_name: str,
  is_active: bool,
  is_owner: bool,
  is_admin: bool,
  is_guest: bool,
  is_bot: bool,
  role: z.union([z.literal(100), z.literal(200), z.literal(300), z.literal(400), z.literal(600)]),
  timezone: str,
  date_joined: str,
});

export const userGroup = z.looseObject({
  id: int,
  name: str,
  description: str,
  members: z.array(int),
  direct_subgroup_ids: z.array(int),
  is_system_group: bool,
});

export const draft = z.looseObject({
  id: int,
  type: z.string(),
  to: z.array(int),
  topic: str,
  content: str,
  timestamp: z.number(),
});
export const snippet = z.looseObject({ id: int, title: str, content: str, date_created: int });
export const scheduledMessage = z.looseObject({
  scheduled_message_id: int,
  type: rtype,
  to: z.union([int, z.array(int)]),
  content: str,
  rendered_content: str,
  scheduled_delivery_timestamp: int,
  failed: bool,
});
export const reminder = z.looseObject({
  reminder_id: int,
  content: str,
  rendered_content: str,
  scheduled_delivery_timestamp: int,
  failed: bool,
  reminder_target_message_id: int,
});
export const folder = z.looseObject({
  id: int,
  name: str,
  description: str,
  rendered_description: str,
  is_archived: bool,
});
export const reaction = emoji;
