import { z } from 'zod';
import { channelPermissionsSchema } from '../vocabulary/channel-permissions.ts';
import { meaningOf } from '../vocabulary/index.ts';

/** What several events are made of. Strict: an event carries what is named here and nothing else. */
export const int = z.int();
export const bool = z.boolean();
export const str = z.string();
/** The emitter may give a list that it does not own. */
export const ints: z.ZodType<readonly number[]> = z.array(int);

/** A change of one property: each with the type of its own value. */
export const propertyOf = <P extends string, S extends z.ZodType, R extends z.ZodRawShape = Record<never, never>>(
  property: P,
  value: S,
  rest: R = {} as R,
) =>
  z.strictObject({
    ...rest,
    property: z.literal(property).describe('The name of what changed.'),
    value: value.description ? value : value.describe(meaningOf(property) ?? 'The new value.'),
  });

/** A change of one of several properties with these values; `R` is what stands beside it. */
export type ChangeOf<V, R = unknown> = { [K in keyof V]: R & { property: K; value: V[K] } }[keyof V];

/** Schemas that are built by name have no static type of their own. */
export const typed = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>;

export const isNotEmpty = [(data: object): boolean => Object.keys(data).length > 0, 'something changed'] as const;

const emoji = {
  emoji_name: str,
  emoji_code: str,
  reaction_type: z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']),
};
/** Beside the id, older clients read who it was. */
export const reaction = {
  ...emoji,
  user_id: int,
  user: z
    .strictObject({ user_id: int, email: str, full_name: str, is_mirror_dummy: bool })
    .describe('Deprecated: the user who reacted.'),
};

const participant = z.strictObject({
  id: int.describe('The ID of the user.'),
  email: str,
  full_name: str,
  is_mirror_dummy: bool,
});
export const topicLinks = z.array(
  z.strictObject({
    text: str.describe('The part of the topic that is the link.'),
    url: str.describe('The address of the link.'),
  }),
);
const submessage = {
  id: int.describe('The ID of the submessage.'),
  sender_id: int,
  msg_type: str,
  content: str.describe('JSON text that the widget understands.'),
};
const messageFields = {
  id: int.describe('The ID of the message.'),
  avatar_url: str.nullable(),
  client: str,
  content: str.describe('The content, in the format that `content_type` names.'),
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
  submessages: z.array(z.strictObject({ ...submessage, message_id: int })),
  timestamp: int.describe('When the message was sent, in seconds since the epoch.'),
  topic_links: topicLinks,
};
const kinds = {
  stream: {
    type: z.literal('stream').describe('A channel message.'),
    stream_id: int,
    display_recipient: str.describe('The name of the channel.'),
  },
  private: {
    type: z.literal('private').describe('A direct message.'),
    display_recipient: z.array(participant).describe('All participants of the conversation, including the sender.'),
  },
};
/** Without flags, which stand beside it. */
export const message = z.discriminatedUnion('type', [
  z.strictObject({ ...messageFields, ...kinds.stream }),
  z.strictObject({ ...messageFields, ...kinds.private }),
]);
/** As the log has it: the number of the entry is the id; its time is the timestamp unless a mirroring bot stated one. */
const { id: _, ...loggedFields } = {
  ...messageFields,
  timestamp: messageFields.timestamp.optional(),
  submessages: z.array(z.strictObject(submessage)),
};
export const loggedMessage = z.discriminatedUnion('type', [
  z.strictObject({ ...loggedFields, ...kinds.stream }),
  z.strictObject({ ...loggedFields, ...kinds.private }),
]);

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
/** Without what is a subscriber's own. */
export const channel = z.strictObject(channelFields);
export type ChannelObject = z.output<typeof channel>;
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
export const subscription = z.strictObject({ ...channelFields, ...ownFields, subscribers: ints });

export const folder = z.strictObject({
  id: int.describe('The ID of the folder of channels.'),
  name: str.describe('The name of the folder.'),
  description: str,
  rendered_description: str,
  date_created: int.nullable(),
  creator_id: int.nullable(),
  order: int.describe('The position of the folder among the others.'),
  is_archived: bool,
});
