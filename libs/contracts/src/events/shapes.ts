import { z } from 'zod';
import { channelPermissionsSchema } from '../permission-settings.ts';

/** What several events are made of. Strict: an event carries what is named here and nothing else. */
export const int = z.int();
export const bool = z.boolean();
export const str = z.string();
export const ints = z.array(int);

/** A change of one property: each with the type of its own value. */
export const propertyOf = <S extends z.ZodType, R extends z.ZodRawShape = Record<never, never>>(
  property: string,
  value: S,
  rest: R = {} as R,
) => z.strictObject({ ...rest, property: z.literal(property), value });

const emoji = {
  emoji_name: str,
  emoji_code: str,
  reaction_type: z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']),
};
/** Beside the id, older clients read who it was. */
export const reaction = {
  ...emoji,
  user_id: int,
  user: z.strictObject({ user_id: int, email: str, full_name: str, is_mirror_dummy: bool }),
};

const participant = z.strictObject({ id: int, email: str, full_name: str, is_mirror_dummy: bool });
const messageFields = {
  id: int,
  avatar_url: str.nullable(),
  client: str,
  content: str,
  content_type: z.enum(['text/html', 'text/x-markdown']),
  is_me_message: bool,
  // Nobody has reacted to what has just been sent.
  reactions: z.tuple([]),
  recipient_id: int,
  sender_email: str,
  sender_full_name: str,
  sender_id: int,
  sender_realm_str: str,
  subject: str,
  submessages: z.array(z.strictObject({ id: int, message_id: int, sender_id: int, msg_type: str, content: str })),
  timestamp: int,
  topic_links: z.array(z.strictObject({ text: str, url: str })),
};
/** Without flags, which stand beside it. */
export const message = z.discriminatedUnion('type', [
  z.strictObject({ ...messageFields, type: z.literal('stream'), stream_id: int, display_recipient: str }),
  z.strictObject({ ...messageFields, type: z.literal('private'), display_recipient: z.array(participant) }),
]);

export const channelFields = {
  stream_id: int,
  name: str,
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
/** Specification 2.3, without what is a subscriber's own. */
export const channel = z.strictObject(channelFields);
export const ownFields = {
  desktop_notifications: bool.nullable(),
  email_notifications: bool.nullable(),
  push_notifications: bool.nullable(),
  audible_notifications: bool.nullable(),
  wildcard_mentions_notify: bool.nullable(),
  pin_to_top: bool,
  is_muted: bool,
  in_home_view: bool,
  color: str,
};
export const subscription = z.strictObject({ ...channelFields, ...ownFields, subscribers: ints });

export const folder = z.strictObject({
  id: int,
  name: str,
  description: str,
  rendered_description: str,
  date_created: int.nullable(),
  creator_id: int.nullable(),
  order: int,
  is_archived: bool,
});
