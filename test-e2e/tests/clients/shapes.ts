import type { Shape } from './shape.ts';

/** Objects as the typed clients parse them. */
export const reaction: Shape = { emoji_name: 'str', emoji_code: 'str', reaction_type: 'str', user_id: 'int' };

export const message: { [key: string]: Shape } = {
  id: 'int',
  client: 'str',
  content: 'str',
  content_type: 'str',
  display_recipient: 'any',
  avatar_url: 'str?',
  is_me_message: 'bool',
  'last_edit_timestamp?': 'int',
  'last_moved_timestamp?': 'int',
  reactions: [reaction],
  recipient_id: 'int',
  sender_email: 'str',
  sender_full_name: 'str',
  sender_id: 'int',
  sender_realm_str: 'str',
  subject: 'str',
  submessages: ['any'],
  timestamp: 'int',
  topic_links: [{ text: 'str', url: 'str' }],
  type: 'str',
};

export const channel: { [key: string]: Shape } = {
  stream_id: 'int',
  name: 'str',
  is_archived: 'bool',
  description: 'str',
  rendered_description: 'str',
  date_created: 'int',
  creator_id: 'int?',
  first_message_id: 'int?',
  folder_id: 'int?',
  invite_only: 'bool',
  is_web_public: 'bool',
  history_public_to_subscribers: 'bool',
  message_retention_days: 'int?',
  topics_policy: 'str',
  stream_post_policy: 'int',
  is_announcement_only: 'bool',
  is_recently_active: 'bool',
  stream_weekly_traffic: 'int?',
  subscriber_count: 'num',
  can_add_subscribers_group: 'group',
  can_administer_channel_group: 'group',
  can_delete_any_message_group: 'group',
  can_delete_own_message_group: 'group',
  can_remove_subscribers_group: 'group',
  can_send_message_group: 'group',
  can_subscribe_group: 'group',
};

export const subscription: { [key: string]: Shape } = {
  ...channel,
  desktop_notifications: 'bool?',
  email_notifications: 'bool?',
  push_notifications: 'bool?',
  audible_notifications: 'bool?',
  wildcard_mentions_notify: 'bool?',
  pin_to_top: 'bool',
  is_muted: 'bool',
  in_home_view: 'bool',
  color: 'str',
};

export const user: { [key: string]: Shape } = {
  user_id: 'int',
  email: 'str',
  delivery_email: 'str?',
  full_name: 'str',
  date_joined: 'str',
  is_active: 'bool',
  is_owner: 'bool',
  is_admin: 'bool',
  is_guest: 'bool',
  is_bot: 'bool',
  bot_type: 'int?',
  'bot_owner_id?': 'int?',
  role: 'int',
  timezone: 'str',
  avatar_url: 'str?',
  avatar_version: 'int',
  'profile_data?': { '*': { value: 'str', 'rendered_value?': 'str' } },
};

export const userGroup: { [key: string]: Shape } = {
  id: 'int',
  name: 'str',
  description: 'str',
  members: ['int'],
  direct_subgroup_ids: ['int'],
  is_system_group: 'bool',
  deactivated: 'bool',
  can_mention_group: 'group',
};

export const realmEmoji: Shape = {
  id: 'str',
  name: 'str',
  source_url: 'str',
  still_url: 'str?',
  deactivated: 'bool',
  author_id: 'int?',
};

export const customProfileField: Shape = {
  id: 'int',
  type: 'int',
  order: 'int',
  name: 'str',
  hint: 'str',
  field_data: 'str',
  'display_in_profile_summary?': 'bool',
};

export const unread: Shape = {
  count: 'int',
  pms: [{ other_user_id: 'int', sender_id: 'int', unread_message_ids: ['int'] }],
  streams: [{ topic: 'str', stream_id: 'int', unread_message_ids: ['int'] }],
  huddles: [{ user_ids_string: 'str', unread_message_ids: ['int'] }],
  mentions: ['int'],
  old_unreads_missing: 'bool',
};

export const legacyPresence: Shape = {
  aggregated: { client: 'str', status: 'str', timestamp: 'int' },
  website: { client: 'str', status: 'str', timestamp: 'int', pushable: 'bool' },
};

export const serverSettings: Shape = {
  authentication_methods: { password: 'bool', dev: 'bool', email: 'bool' },
  external_authentication_methods: [{ name: 'str', display_name: 'str', login_url: 'str', signup_url: 'str' }],
  zulip_feature_level: 'int',
  zulip_version: 'str',
  zulip_merge_base: 'str',
  push_notifications_enabled: 'bool',
  is_incompatible: 'bool',
  email_auth_enabled: 'bool',
  require_email_format_usernames: 'bool',
  realm_url: 'str',
  realm_uri: 'str',
  realm_name: 'str',
  realm_icon: 'str',
  realm_description: 'str',
  realm_web_public_access_enabled: 'bool',
};
