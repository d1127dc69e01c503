import { z } from 'zod';
import { keysOf, recordOf } from '../model/keys.ts';
import { groupSettingSchema } from '../model/permission-settings.ts';
import { realmSettings } from '../model/realm-settings.ts';
import { meaningOf } from '../vocabulary/index.ts';
import { realmPermissionMeanings } from '../vocabulary/permissions.ts';
import { permissionMirrors, settingMirrors, settingValue } from '../vocabulary/realm-setting-values.ts';
import { linkifierSchema, playgroundSchema, realmDomainSchema, realmEmojiSchema } from './realm.ts';

type Fields = Record<string, z.ZodType>;

const int = z.int();
const bool = z.boolean();
const str = z.string();
const prefixed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`realm_${name}`, value]));

/** Possible values of a setting, by name. */
const choices = z.record(
  str,
  z.object({ id: int.describe('The value of the setting.'), name: str.describe('Its name for people.') }),
);
const permissionSettings = z.record(
  str,
  z.object({
    require_system_group: bool.describe('Whether only the group of a role is accepted.'),
    allow_internet_group: bool.describe('Whether everybody on the network is accepted.'),
    allow_nobody_group: bool.describe('Whether nobody is accepted.'),
    allow_everyone_group: bool.describe('Whether guests are accepted.'),
    default_group_name: str.describe('The name of the initial group.'),
    default_for_system_groups: str.nullable().describe('The name of the initial group for the groups of roles.'),
    allowed_system_groups: z.array(str).describe('The names of the accepted groups of roles; empty for all.'),
  }),
);

const settings: Fields = prefixed({
  ...recordOf(keysOf(realmSettings), (name) => settingValue(name, realmSettings[name])),
  ...Object.fromEntries(
    Object.entries(realmPermissionMeanings).map(([name, meaning]) => [name, groupSettingSchema.describe(meaning)]),
  ),
  ...settingMirrors,
  ...Object.fromEntries(
    Object.entries(permissionMirrors).map(([name, one]) => [name, one.describe(meaningOf(name) ?? '')]),
  ),
});

const pictures: Fields = prefixed(
  Object.fromEntries(
    ['icon', 'logo', 'night_logo'].flatMap((kind) => [
      [`${kind}_url`, str.describe(meaningOf(`${kind}_url`) ?? '')],
      [`${kind}_source`, z.enum(['U', 'D']).describe(meaningOf(`${kind}_source`) ?? '')],
    ]),
  ),
);

const identity: Fields = {
  realm_url: str.describe('The address of the organization.'),
  realm_uri: str.describe('Deprecated: the address of the organization.'),
  realm_bot_domain: str.describe('The domain of the addresses of bots.'),
  realm_date_created: int.describe('When the organization was created, in seconds since the epoch.'),
  realm_authentication_methods: z
    .record(
      str,
      z.object({
        enabled: bool.describe('Whether the method is enabled.'),
        available: bool.describe('Whether the method can be enabled.'),
      }),
    )
    .describe('The methods of authentication, by name.'),
  realm_empty_topic_display_name: str.describe('The name that clients show for the empty topic.'),
  realm_plan_type: int.describe('Always 1: the organization has its own server.'),
  realm_push_notifications_enabled: bool.describe('Always false: no push notifications are sent.'),
  realm_push_notifications_enabled_end_timestamp: z.null().describe('Always null: no push notifications are sent.'),
  realm_email_auth_enabled: bool.describe('Always true: users log in with passwords.'),
  realm_password_auth_enabled: bool.describe('Always true: users log in with passwords.'),
  realm_is_zephyr_mirror_realm: bool.describe('Always false.'),
  realm_upload_quota_mib: int.nullable().describe('How much users may upload in all, in MiB; null for no limit.'),
  realm_default_external_accounts: z
    .record(
      str,
      z.object({
        name: str.describe('The name of the field.'),
        text: str.describe('The name of the service.'),
        hint: str,
        url_pattern: str.describe('The address of an account, with the place of the name.'),
      }),
    )
    .describe('The services whose accounts can be fields of a profile.'),
  realm_available_video_chat_providers: choices.describe('The services for video calls.'),
  giphy_rating_options: choices.describe('The ratings of GIFs.'),
};

const collections: Fields = {
  realm_domains: z.array(realmDomainSchema).describe('The domains whose email addresses may join.'),
  realm_emoji: z.record(str, realmEmojiSchema).describe('The custom emoji, by ID.'),
  realm_linkifiers: z.array(linkifierSchema).describe('The linkifiers, in their order.'),
  realm_playgrounds: z.array(playgroundSchema).describe('The code playgrounds.'),
  realm_filters: z.array(str).describe('Always empty: linkifiers are in `realm_linkifiers`.'),
  realm_billing: z
    .object({ has_pending_sponsorship_request: bool.describe('Always false.') })
    .describe('The state of payments, which do not exist.'),
  realm_embedded_bots: z.array(str).describe('Always empty: there are no embedded bots.'),
  realm_incoming_webhook_bots: z.array(str).describe('Always empty: there are no integrations.'),
  stop_words: z.array(str).describe('Always empty: searches ignore no words.'),
};

const limit = (what: string): z.ZodType => int.describe(`The maximum ${what}.`);
const milliseconds = (what: string): z.ZodType => int.describe(`${what}, in milliseconds.`);
const server: Fields = {
  max_stream_name_length: limit('length of the name of a channel'),
  max_stream_description_length: limit('length of the description of a channel'),
  max_topic_length: limit('length of a topic'),
  max_message_length: limit('length of a message'),
  max_channel_folder_name_length: limit('length of the name of a folder of channels'),
  max_channel_folder_description_length: limit('length of the description of a folder of channels'),
  max_reminder_note_length: limit('length of the note of a reminder'),
  max_bulk_new_subscription_messages: limit('number of new subscriptions about which users are told'),
  max_avatar_file_size_mib: limit('size of the picture of a user, in MiB'),
  max_icon_file_size_mib: limit('size of the icon of the organization, in MiB'),
  max_logo_file_size_mib: limit('size of the logo of the organization, in MiB'),
  max_file_upload_size_mib: limit('size of an upload, in MiB'),
  password_min_length: int.describe('The minimum length of a password.'),
  password_max_length: limit('length of a password'),
  password_min_guesses: int.describe('Always 0: passwords are checked by their length.'),
  event_queue_longpoll_timeout_seconds: int.describe('After how many seconds a poll without events ends.'),
  server_presence_ping_interval_seconds: int.describe('How often clients tell that they are here, in seconds.'),
  server_presence_offline_threshold_seconds: int.describe('After how many seconds without it a user is offline.'),
  server_typing_started_expiry_period_milliseconds: milliseconds('How long a user counts as typing'),
  server_typing_stopped_wait_period_milliseconds: milliseconds('After which pause clients tell that the user stopped'),
  server_typing_started_wait_period_milliseconds: milliseconds('How often clients tell that the user still types'),
  server_supported_permission_settings: z
    .object({
      realm: permissionSettings.describe('The permissions of the organization.'),
      stream: permissionSettings.describe('The permissions of a channel.'),
      group: permissionSettings.describe('The permissions of a group.'),
    })
    .describe('Which groups each permission accepts.'),
  jitsi_server_url: str.describe('Deprecated: the address of the Jitsi server of the organization.'),
  server_jitsi_server_url: str.describe('The address of the Jitsi server, where the organization names none.'),
  server_web_public_streams_enabled: bool.describe('Whether the server permits web-public channels.'),
  server_emoji_data_url: str.describe('The address of the names of all emoji.'),
  server_min_deactivated_realm_deletion_days: z.null().describe('Always null: no data is deleted by time.'),
  server_max_deactivated_realm_deletion_days: z.null().describe('Always null: no data is deleted by time.'),
  server_thumbnail_formats: z
    .array(
      z.object({
        name: str.describe('The name of the format.'),
        max_width: int.describe('The maximum width, in pixels.'),
        max_height: int.describe('The maximum height, in pixels.'),
        format: str.describe('The type of the file.'),
        animated: bool.describe('Whether the picture moves.'),
      }),
    )
    .describe('Always empty: pictures are served as they were uploaded.'),
  server_generation: int.describe('Always 1: no client has to reload.'),
  development_environment: bool.describe('Always false.'),
  server_needs_upgrade: bool.describe('Always false.'),
  server_inline_image_preview: bool.describe('Whether the server permits previews of images.'),
  server_inline_url_embed_preview: bool.describe('Always false: web sites are not fetched.'),
  server_avatar_changes_disabled: bool.describe('Always false: the organization decides.'),
  server_name_changes_disabled: bool.describe('Always false: the organization decides.'),
  server_can_summarize_topics: bool.describe('Always false: there is no language model.'),
  settings_send_digest_emails: bool.describe('Always false: no digests are sent.'),
  zulip_plan_is_not_limited: bool.describe('Always true: there are no plans.'),
  upgrade_text_for_wide_organization_logo: str.describe('Always empty: there are no plans.'),
  server_report_message_types: z
    .array(z.object({ key: str.describe('The reason, for programs.'), name: str.describe('The reason, for people.') }))
    .describe('The reasons for which messages can be reported.'),
};

/** Fields of a register about the realm and the server. */
export const realmState: Fields = { ...settings, ...pictures, ...identity, ...collections, ...server };
