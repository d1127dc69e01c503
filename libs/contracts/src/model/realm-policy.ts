import { z } from 'zod';
import { string } from './bounded.ts';
import { keysOf, recordOf } from './keys.ts';
import { groupSettingSchema, realmPermissions, systemGroupNames } from './permission-settings.ts';

const permission = recordOf(keysOf(realmPermissions), () => groupSettingSchema);

/**
 * The permissions and settings of a realm that other services use in decisions. Such a decision is committed with the
 * expected version `realm@<version>`.
 */
export const realmPolicySchema = z.object({
  version: z.int(),
  /** Ids of the system groups by name. */
  system_groups: z.record(z.enum(systemGroupNames), z.int()),
  permissions: z.object(permission),
  name: z.string(),
  host: z.string(),
  /** Origin of links to the realm, as configured by the operator. */
  url: z.string(),
  settings: z.object({
    allow_message_editing: z.boolean(),
    message_content_edit_limit_seconds: z.int().nullable(),
    message_content_delete_limit_seconds: z.int().nullable(),
    move_messages_within_stream_limit_seconds: z.int().nullable(),
    move_messages_between_streams_limit_seconds: z.int().nullable(),
    message_edit_history_visibility_policy: z.enum(['all', 'moves', 'none']),
    message_retention_days: z.int(),
    topics_policy: z.enum(['allow_empty_topic', 'disable_empty_topic']),
    enable_read_receipts: z.boolean(),
    /** Spectators can read web-public channels: enabled in the realm and permitted by the server. */
    enable_spectator_access: z.boolean(),
    presence_disabled: z.boolean(),
    inline_image_preview: z.boolean(),
    default_code_block_language: z.string(),
    default_language: z.string(),
    waiting_period_threshold: z.int(),
    send_channel_events_messages: z.boolean(),
    inline_url_embed_preview: z.boolean(),
    message_content_allowed_in_email_notifications: z.boolean(),
    /** Channels of announcements; -1 for none. */
    moderation_request_channel_id: z.int(),
    zulip_update_announcements_stream_id: z.int(),
    new_stream_announcements_stream_id: z.int(),
    signup_announcements_stream_id: z.int(),
    send_welcome_emails: z.boolean(),
    welcome_message_custom_text: z.string(),
  }),
});
export type RealmPolicy = z.infer<typeof realmPolicySchema>;

/** The origin of a realm without a configured one. */
export const defaultRealmUrl = (host: string): string =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host) ? `http://${host}` : `https://${host}`;

/** `https://chat.example.com` or `http://localhost:9991`: only scheme, host and port. */
export const realmUrlSchema = string(300).refine(
  (url) => /^https?:\/\//.test(url) && URL.canParse(url) && new URL(url).origin === url,
  'is not an origin such as https://chat.example.com',
);
