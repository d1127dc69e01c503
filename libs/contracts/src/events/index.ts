import { z } from 'zod';
import {
  bool,
  channel,
  draft,
  folder,
  int,
  message,
  reaction,
  reminder,
  scheduledMessage,
  snippet,
  str,
  subscription,
  user,
  userGroup,
} from './shapes.ts';

const list = <S extends z.ZodType>(schema: S) => z.array(schema);
const person = (fields: z.ZodRawShape) => ({ person: z.looseObject({ user_id: int, ...fields }) });
const changed = { property: str, value: z.unknown() };
const details = z.looseObject({ type: z.enum(['private', 'stream']) });
const rename = { stream_id: int, name: str };

/** What clients see of each event beside `id`, `type` and `op`, by `type` or `type/op`. */
export const eventSchemas = {
  heartbeat: z.object({}),
  message: z.looseObject({ message, flags: list(str), local_message_id: str.optional() }),
  update_message: z.looseObject({
    user_id: int.nullable(),
    rendering_only: bool,
    message_id: int,
    message_ids: list(int),
    flags: list(str),
    edit_timestamp: int,
  }),
  delete_message: z
    .looseObject({ message_type: z.enum(['private', 'stream']) })
    .and(z.union([z.looseObject({ message_ids: list(int) }), z.looseObject({ message_id: int })])),
  'reaction/add': z.looseObject({ ...reaction, message_id: int, user_id: int }),
  'reaction/remove': z.looseObject({ ...reaction, message_id: int, user_id: int }),
  submessage: z.looseObject({ msg_type: str, content: str, message_id: int, sender_id: int, submessage_id: int }),
  'update_message_flags/add': z.looseObject({ operation: z.literal('add'), flag: str, messages: list(int), all: bool }),
  'update_message_flags/remove': z.looseObject({
    operation: z.literal('remove'),
    flag: str,
    messages: list(int),
    all: bool,
    message_details: z.record(str, details).optional(),
  }),
  'typing/start': z.looseObject({
    message_type: z.enum(['direct', 'stream']),
    sender: z.looseObject({ user_id: int }),
  }),
  'typing/stop': z.looseObject({ message_type: z.enum(['direct', 'stream']), sender: z.looseObject({ user_id: int }) }),
  'typing_edit_message/start': z.looseObject({
    sender_id: int,
    message_id: int,
    recipient: z.looseObject({ type: str }),
  }),
  'typing_edit_message/stop': z.looseObject({
    sender_id: int,
    message_id: int,
    recipient: z.looseObject({ type: str }),
  }),
  'stream/create': z.looseObject({ streams: list(channel) }),
  'stream/delete': z.looseObject({ streams: list(z.looseObject({ stream_id: int })), stream_ids: list(int) }),
  'stream/update': z.looseObject({ ...rename, ...changed }),
  'subscription/add': z.looseObject({ subscriptions: list(subscription) }),
  'subscription/remove': z.looseObject({ subscriptions: list(z.looseObject(rename)) }),
  'subscription/update': z.looseObject({ stream_id: int, ...changed }),
  'subscription/peer_add': z.looseObject({ stream_ids: list(int), user_ids: list(int) }),
  'subscription/peer_remove': z.looseObject({ stream_ids: list(int), user_ids: list(int) }),
  default_streams: z.looseObject({ default_streams: list(int) }),
  default_stream_groups: z.looseObject({ default_stream_groups: list(z.looseObject({ id: int, name: str })) }),
  'channel_folder/add': z.looseObject({ channel_folder: folder }),
  'channel_folder/update': z.looseObject({ channel_folder_id: int, data: z.looseObject({}) }),
  'channel_folder/reorder': z.looseObject({ order: list(int) }),
  user_topic: z.looseObject({
    stream_id: int,
    topic_name: str,
    last_updated: int,
    visibility_policy: z.int().min(0).max(3),
  }),
  muted_topics: z.looseObject({ muted_topics: list(z.tuple([str, str, int])) }),
  'realm_user/add': z.looseObject({ person: user }),
  'realm_user/remove': z.looseObject(person({ full_name: str })),
  'realm_user/update': z.looseObject(person({})),
  'realm_bot/add': z.looseObject({ bot: z.looseObject({ user_id: int, full_name: str, is_active: bool }) }),
  'realm_bot/update': z.looseObject({ bot: z.looseObject({ user_id: int }) }),
  'realm_bot/remove': z.looseObject({ bot: z.looseObject({ user_id: int }) }),
  'realm_bot/delete': z.looseObject({ bot: z.looseObject({ user_id: int }) }),
  presence: z.union([
    z.looseObject({ presences: z.record(str, z.object({ active_timestamp: int, idle_timestamp: int })) }),
    z.looseObject({
      user_id: int,
      server_timestamp: z.number(),
      presence: z.looseObject({ website: z.looseObject({}) }),
    }),
  ]),
  user_status: z.looseObject({ user_id: int }),
  'user_group/add': z.looseObject({ group: userGroup }),
  'user_group/update': z.looseObject({ group_id: int, data: z.looseObject({}) }),
  'user_group/add_members': z.looseObject({ group_id: int, user_ids: list(int) }),
  'user_group/remove_members': z.looseObject({ group_id: int, user_ids: list(int) }),
  'user_group/add_subgroups': z.looseObject({ group_id: int, direct_subgroup_ids: list(int) }),
  'user_group/remove_subgroups': z.looseObject({ group_id: int, direct_subgroup_ids: list(int) }),
  'user_group/remove': z.looseObject({ group_id: int }),
  muted_users: z.looseObject({ muted_users: list(z.object({ id: int, timestamp: int })) }),
  alert_words: z.looseObject({ alert_words: list(str) }),
  'user_settings/update': z.looseObject(changed),
  update_display_settings: z.looseObject({ user: str, setting_name: str, setting: z.unknown() }),
  update_global_notifications: z.looseObject({ user: str, notification_name: str, setting: z.unknown() }),
  has_zoom_token: z.looseObject({ value: bool }),
  push_device: z.looseObject({ status: str }),
  'device/add': z.looseObject({ device_id: int }),
  'device/remove': z.looseObject({ device_id: int }),
  'device/update': z.looseObject({ device_id: int }),
  'drafts/add': z.looseObject({ drafts: list(draft) }),
  'drafts/update': z.looseObject({ draft }),
  'drafts/remove': z.looseObject({ draft_id: int }),
  'saved_snippets/add': z.looseObject({ saved_snippet: snippet }),
  'saved_snippets/update': z.looseObject({ saved_snippet: snippet }),
  'saved_snippets/remove': z.looseObject({ saved_snippet_id: int }),
  'scheduled_messages/add': z.looseObject({ scheduled_messages: list(scheduledMessage) }),
  'scheduled_messages/update': z.looseObject({ scheduled_message: scheduledMessage }),
  'scheduled_messages/remove': z.looseObject({ scheduled_message_id: int }),
  'reminders/add': z.looseObject({ reminders: list(reminder) }),
  'reminders/remove': z.looseObject({ reminder_id: int }),
  'navigation_view/add': z.looseObject({ navigation_view: z.looseObject({ fragment: str, is_pinned: bool }) }),
  'navigation_view/update': z.looseObject({ fragment: str, data: z.looseObject({}) }),
  'navigation_view/remove': z.looseObject({ fragment: str }),
  'attachment/add': z.looseObject({ attachment: z.looseObject({ id: int }), upload_space_used: int }),
  'attachment/update': z.looseObject({ attachment: z.looseObject({ id: int }), upload_space_used: int }),
  'attachment/remove': z.looseObject({ attachment: z.looseObject({ id: int }), upload_space_used: int }),
  onboarding_steps: z.looseObject({ onboarding_steps: list(z.looseObject({ type: str, name: str })) }),
  invites_changed: z.looseObject({}),
  'realm/update': z.looseObject(changed),
  'realm/update_dict': z.looseObject({ property: str, data: z.looseObject({}) }),
  'realm/deactivated': z.looseObject({ realm_id: int }),
  realm_billing: z.looseObject(changed),
  'realm_user_settings_defaults/update': z.looseObject(changed),
  'realm_domains/add': z.looseObject({ realm_domain: z.looseObject({ domain: str, allow_subdomains: bool }) }),
  'realm_domains/change': z.looseObject({ realm_domain: z.looseObject({ domain: str, allow_subdomains: bool }) }),
  'realm_domains/remove': z.looseObject({ domain: str }),
  'realm_emoji/update': z.looseObject({ realm_emoji: z.record(str, z.looseObject({ id: str, name: str })) }),
  'realm_emoji/add': z.looseObject({ emoji: z.looseObject({ id: str, name: str }) }),
  'realm_emoji/update_one': z.looseObject({ emoji_id: str, data: z.looseObject({}) }),
  realm_linkifiers: z.looseObject({
    realm_linkifiers: list(z.looseObject({ id: int, pattern: str, url_template: str })),
  }),
  realm_filters: z.looseObject({ realm_filters: list(z.unknown()) }),
  realm_playgrounds: z.looseObject({ realm_playgrounds: list(z.looseObject({ id: int, name: str })) }),
  realm_export: z.looseObject({ exports: list(z.looseObject({ id: int })) }),
  realm_export_consent: z.looseObject({ user_id: int, consented: bool }),
  custom_profile_fields: z.looseObject({ fields: list(z.looseObject({ id: int, type: int, name: str, order: int })) }),
  restart: z.looseObject({ zulip_feature_level: int, server_generation: int }),
  web_reload_client: z.looseObject({ immediate: bool }),
} satisfies Record<string, z.ZodType>;

/** Why an event is not as the catalogue has it; undefined when it is. */
export function problemOfEvent(event: Record<string, unknown>): string | undefined {
  const { id, type, op, ...body } = event;
  const name = op === undefined ? String(type) : `${String(type)}/${String(op)}`;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return `${name}: id is not an integer`;
  const schema = (eventSchemas as Record<string, z.ZodType>)[name];
  if (!schema) return `${name}: no such event`;
  const parsed = schema.safeParse(body);
  if (parsed.success) return undefined;
  return `${name}: ${parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`;
}
