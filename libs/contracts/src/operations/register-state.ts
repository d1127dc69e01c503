import { z } from 'zod';
import { realmDefaultNames, type UserSettingName, userSettingNames, userSettings } from '../model/user-settings.ts';
import { userSettingValue } from '../vocabulary/user-setting-params.ts';
import { botSchema } from './bots.ts';
import { channelFields, folderFields, ownFields } from './channels/channel-fields.ts';
import { navigationViewSchema, savedSnippetSchema } from './collections.ts';
import { draftSchema } from './drafts.ts';
import { userGroupSchema } from './groups.ts';
import { profileFieldSchema } from './profile-fields.ts';
import { realmState } from './register-realm.ts';
import { reminderSchema, scheduledMessageSchema } from './scheduled-messages.ts';
import { mutedUserSchema, userStatusSchema } from './social.ts';
import { userSchema } from './users.ts';

/**
 * The state that a register returns, by field. All fields are optional: each is in the answers to requests for its fetch
 * type. A test compares registers of a running system with it.
 */

type Fields = Record<string, z.ZodType>;

const int = z.int();
const bool = z.boolean();
const str = z.string();
const ids = z.array(int);
const seconds = int;

const identity = {
  zulip_version: str.describe('The version of the server.'),
  service_version: str.describe('The version of the server.'),
  zulip_merge_base: str.describe('The version of the server.'),
  zulip_feature_level: int.describe('The feature level of the API.'),
  service_feature_level: int.describe('The feature level of the API.'),
};

const people = {
  realm_users: z.array(userSchema).describe('The active users and bots.'),
  realm_non_active_users: z.array(userSchema).describe('The deactivated users and bots.'),
  cross_realm_bots: z.array(userSchema).describe('The bots of the server.'),
  avatar_source: str.describe('Whether the picture of the caller was uploaded (`U`) or is that of the server (`G`).'),
  avatar_url: str.nullable().describe('The address of the picture of the caller.'),
  avatar_url_medium: str.nullable().describe('The address of the larger picture of the caller.'),
  is_admin: bool.describe('Whether the caller is an administrator or an owner.'),
  is_owner: bool.describe('Whether the caller is an owner.'),
  is_moderator: bool.describe('Whether the caller is a moderator, an administrator or an owner.'),
  is_guest: bool.describe('Whether the caller is a guest, or not authenticated.'),
  user_id: int.describe('The ID of the caller; -1 without authentication.'),
  email: str.describe('The API email address of the caller.'),
  delivery_email: str.describe('The real email address of the caller.'),
  full_name: str.describe('The name of the caller.'),
  realm_bots: z.array(botSchema).describe('The bots that the caller manages.'),
  realm_user_groups: z.array(userGroupSchema).describe('The groups of users.'),
  custom_profile_fields: z.array(profileFieldSchema).describe('The fields of profiles, in their order.'),
  custom_profile_field_types: z
    .record(str, z.object({ id: int.describe('The number of the type.'), name: str.describe('Its name for people.') }))
    .describe('The types of fields of profiles.'),
  user_status: z.record(str, userStatusSchema).describe('The status of each user who has one, by ID.'),
  muted_users: z.array(mutedUserSchema).describe('The users whom the caller muted.'),
};

const subscribersFields = {
  subscribers: ids.optional(),
  partial_subscribers: ids
    .describe('Some of the subscribers, in place of all, where the request accepts that.')
    .optional(),
};
const channel = z.object(channelFields);
const subscription = z.object({ ...channelFields, ...ownFields, ...subscribersFields });

const channels = {
  streams: z.array(channel).describe('The channels that the caller can see.'),
  subscriptions: z.array(subscription).describe('The channels that the caller is subscribed to.'),
  unsubscribed: z.array(subscription).describe('The channels that the caller was subscribed to.'),
  never_subscribed: z
    .array(z.object({ ...channelFields, ...subscribersFields }))
    .describe('The other channels that the caller can see.'),
  realm_default_streams: ids.describe('The IDs of the channels that new users are subscribed to.'),
  realm_default_stream_groups: z
    .array(
      z.object({
        id: int.describe('The ID of the group of default channels.'),
        name: str.describe('The name of the group.'),
        description: str,
        streams: ids.describe('The IDs of its channels.'),
      }),
    )
    .describe('The groups of default channels.'),
  channel_folders: z.array(z.object(folderFields)).describe('The folders of channels.'),
};

const unread = { unread_message_ids: ids.describe('The IDs of the unread messages, ascending.') };
const messages = {
  max_message_id: int.describe('The ID of the newest message that the caller received; -1 for none.'),
  starred_messages: ids.describe('The IDs of the starred messages.'),
  drafts: z.array(draftSchema).describe('The drafts of the caller.'),
  scheduled_messages: z.array(scheduledMessageSchema).describe('The messages that are sent later.'),
  reminders: z.array(reminderSchema).describe('The reminders of the caller.'),
  user_topics: z
    .array(
      z.object({
        stream_id: int,
        topic_name: str.describe('The name of the topic.'),
        last_updated: seconds.describe('When it was set, in seconds since the epoch.'),
        visibility_policy: int.describe('The visibility: 0 none, 1 muted, 2 unmuted, 3 followed.'),
      }),
    )
    .describe('The topics for which the caller set a visibility.'),
  muted_topics: z
    .array(z.tuple([str, str, seconds]))
    .describe('Deprecated: the muted topics, as channel, topic, and when in seconds since the epoch.'),
  recent_private_conversations: z
    .array(
      z.object({
        max_message_id: int.describe('The ID of the newest message of the conversation.'),
        user_ids: ids.describe('The IDs of the others.'),
      }),
    )
    .describe('The conversations of the newest direct messages, the newest first.'),
  unread_msgs: z
    .object({
      count: int.describe(
        'How many of these messages are direct, or in channels and topics that the caller did not mute; a topic that is unmuted or followed counts also in a muted channel.',
      ),
      pms: z
        .array(
          z.object({
            other_user_id: int.describe('The ID of the other user.'),
            sender_id: int.describe('Deprecated: the ID of the other user.'),
            ...unread,
          }),
        )
        .describe('The unread direct messages with one other user.'),
      streams: z
        .array(z.object({ topic: str.describe('The name of the topic.'), stream_id: int, ...unread }))
        .describe('The unread messages in channels.'),
      huddles: z
        .array(z.object({ user_ids_string: str.describe('The IDs of all participants, with commas.'), ...unread }))
        .describe('The unread direct messages with several others.'),
      mentions: ids.describe('The IDs of the unread messages that mention the caller.'),
      old_unreads_missing: bool.describe('Whether there are more unread messages, which are older.'),
    })
    .describe('The unread messages, by conversation.'),
};

const legacyPresence = z.object({
  client: str.describe('The kind of client.'),
  status: z.enum(['active', 'idle']).describe('Whether the user is active or idle.'),
  timestamp: seconds.describe('When the user was last seen so, in seconds since the epoch.'),
  pushable: bool.describe('Always false.').optional(),
});
const presence = {
  presences: z
    .record(
      str,
      z.union([
        z.object({
          active_timestamp: seconds.describe('When the user was last active, in seconds since the epoch.'),
          idle_timestamp: seconds.describe('When the user was last seen, in seconds since the epoch.'),
        }),
        z.object({
          aggregated: legacyPresence.describe('The newest of all clients.'),
          website: legacyPresence.describe('The same, as the only client.'),
        }),
      ]),
    )
    .describe('The presence of users, by ID, or by email address without `slim_presence`.'),
  presence_last_update_id: int.describe('The position up to which the presence of users is in the answer.'),
  server_timestamp: z.number().describe('The time of the server, in seconds since the epoch.'),
};

const choices: Fields = {
  emojiset_choices: z
    .array(z.object({ key: str.describe('The value of the setting.'), text: str.describe('Its name for people.') }))
    .describe('The sets of emoji that can be chosen.'),
  available_notification_sounds: z.array(str).describe('The sounds that can be chosen.'),
};
const settingsOf = (names: readonly UserSettingName[]): Fields =>
  Object.fromEntries(names.map((name) => [name, userSettingValue(name)]));
const own: Fields = {
  ...Object.fromEntries(
    Object.entries({
      can_create_private_streams: 'create private channels',
      can_create_public_streams: 'create public channels',
      can_create_web_public_streams: 'create web-public channels',
      can_create_streams: 'create channels',
      can_subscribe_other_users: 'subscribe others to channels',
      can_invite_others_to_realm: 'invite others',
    }).map(([name, what]) => [name, bool.describe(`Deprecated: whether the caller may ${what}.`)]),
  ),
  ...settingsOf(userSettingNames.filter((name) => userSettings[name].legacy !== undefined)),
  ...choices,
  user_settings: z.object({ ...settingsOf(userSettingNames), ...choices }).describe('The settings of the caller.'),
  realm_user_settings_defaults: z
    .object({ ...settingsOf(realmDefaultNames), ...choices })
    .describe('The settings that new users start with.'),
  alert_words: z.array(str).describe('The words that alert the caller.'),
  saved_snippets: z.array(savedSnippetSchema).describe('The saved snippets of the caller.'),
  navigation_views: z.array(navigationViewSchema).describe('The views in the navigation of the caller.'),
  onboarding_steps: z
    .array(
      z.object({
        type: z.enum(['one_time_notice', 'one_time_action']).describe('The kind of explanation.'),
        name: str.describe('The name of the explanation.'),
      }),
    )
    .describe('The explanations that the caller has not seen yet.'),
  navigation_tour_video_url: z.null().describe('Always null: there is no video.'),
  push_devices: z
    .record(str, z.object({ status: str.describe('The state of the registration.') }))
    .describe('The devices that are registered for push notifications, by their account ID.'),
  devices: z
    .record(
      str,
      z.object({
        push_key_id: int.describe('The ID of the key of the device.').optional(),
        pending_push_token_id: str.describe('The ID of the token of the device.').optional(),
      }),
    )
    .describe('The devices of the caller, by ID.'),
  has_zoom_token: bool.describe('Always false: there are no calls with Zoom.'),
  giphy_api_key: str.describe('Always empty: there are no GIFs.'),
};

/** Fields without a static type: their names are computed at run time, or no client in this repository reads them. */
const others: Record<never, never> = z.object({ ...own, ...realmState }).partial().shape;

/** The fields of the state, all optional. */
export const registerState = {
  ...z.object({ ...identity, ...people, ...channels, ...messages, ...presence }).partial().shape,
  ...others,
};
