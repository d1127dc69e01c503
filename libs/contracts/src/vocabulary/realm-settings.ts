import type { RealmSettingName } from '../model/realm-settings.ts';

/** Descriptions of the settings of an organization. */
export const realmSettingMeanings: Record<RealmSettingName, string> = {
  name: 'The display name of the organization.',
  description: 'The description of the organization, in Markdown.',
  org_type:
    'The kind of organization: 0 unspecified, 10 business, 20 open source, 30 education (non-profit), 35 education (for profit), 40 research, 50 event, 60 non-profit, 70 government, 80 political group, 90 community, 100 personal, 110 unlisted, 1000 other.',
  default_language: 'The language of messages that the server sends to everyone, and of invitations.',
  default_code_block_language: 'The language of code blocks that name none. The empty text stands for none.',
  welcome_message_custom_text: 'Markdown that is added to the message that greets each newcomer.',
  emails_restricted_to_domains: 'Whether only email addresses of the allowed domains may join.',
  disallow_disposable_email_addresses: 'Whether addresses of known disposable email services are refused.',
  invite_required: 'Whether joining requires an invitation.',
  invite_links_verify_email: 'Whether a person who opens a reusable link has to confirm their address by email first.',
  name_changes_disabled: 'Whether users may not change their own names.',
  email_changes_disabled: 'Whether users may not change their own email addresses.',
  avatar_changes_disabled: 'Whether users may not change their own avatars.',
  require_unique_names: 'Whether no two active users may have the same name.',
  waiting_period_threshold: 'After how many days a new member counts as a full member.',
  inline_image_preview: 'Whether linked images are shown in messages.',
  inline_url_embed_preview: 'Whether linked web pages are shown in messages.',
  message_content_allowed_in_email_notifications: 'Whether emails may contain the content of messages.',
  presence_disabled: 'Whether nobody sees who is active or idle.',
  send_welcome_emails: 'Whether new users get an email that introduces the organization.',
  digest_emails_enabled: 'Whether inactive users may be sent digests by email.',
  digest_weekday: 'The day of the week on which digests are sent: 0 is Monday, 6 is Sunday.',
  enable_read_receipts: 'Whether users can see who has read a message.',
  enable_spectator_access: 'Whether web-public channels can be read without an account.',
  want_advertise_in_communities_directory: 'Whether the organization wants to be listed in a public directory.',
  enable_guest_user_indicator: 'Whether clients mark the names of guests.',
  enable_guest_user_dm_warning: 'Whether clients warn before a direct message is sent to a guest.',
  require_e2ee_push_notifications: 'Whether push notifications omit content that is not end-to-end encrypted.',
  send_channel_events_messages: 'Whether changes of a channel are announced by a message in it.',
  giphy_rating: 'The least restricted GIFs that may be chosen: 0 none, 1 Y, 2 G, 3 PG, 4 PG-13, 5 R.',
  video_chat_provider: 'The service for video calls: 0 none, 1 Jitsi Meet.',
  jitsi_server_url:
    'The address of the Jitsi server. `default`, which is read as null, stands for the default of the server.',
  allow_message_editing: 'Whether users may edit the content of their own messages.',
  message_content_edit_limit_seconds:
    'For how many seconds after sending a message its content may be edited. `unlimited`, which is read as null, sets no limit.',
  message_content_delete_limit_seconds:
    'For how many seconds after sending a message its sender may delete it. `unlimited`, which is read as null, sets no limit.',
  move_messages_within_stream_limit_seconds:
    'For how many seconds after sending a message it may be moved to another topic. `unlimited`, which is read as null, sets no limit.',
  move_messages_between_streams_limit_seconds:
    'For how many seconds after sending a message it may be moved to another channel. `unlimited`, which is read as null, sets no limit.',
  message_edit_history_visibility_policy: 'Which part of the edit history users see: `all`, only `moves`, or `none`.',
  message_retention_days: 'After how many days messages are deleted. -1 or `unlimited` keeps them forever.',
  topics_policy: 'Whether messages in channels may have an empty topic.',
  moderation_request_channel_id: 'The ID of the private channel to which reports of messages are sent; -1 for none.',
  new_stream_announcements_stream_id: 'The ID of the channel in which new channels are announced; -1 for none.',
  signup_announcements_stream_id: 'The ID of the channel in which new users are announced; -1 for none.',
  zulip_update_announcements_stream_id: 'The ID of the channel in which server updates are announced; -1 for none.',
};
