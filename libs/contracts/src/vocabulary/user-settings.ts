import type { UserSettingName } from '../model/user-settings.ts';

/** Descriptions of the personal settings. */
export const userSettingMeanings: Record<UserSettingName, string> = {
  twenty_four_hour_time: 'Whether times are shown in the 24-hour format instead of the 12-hour format.',
  default_language: 'The language of the interface, as a language code.',
  left_side_userlist: 'Whether the list of users is shown on the left in narrow windows.',
  web_home_view: 'The view that a web client opens first.',
  web_escape_navigates_to_home_view: 'Whether the escape key leads to the home view.',
  fluid_layout_width: 'Whether the web client uses the full width of the screen.',
  high_contrast_mode: 'Whether the interface uses stronger contrasts.',
  translate_emoticons: 'Whether emoticons such as `:)` are replaced by emoji before a message is sent.',
  display_emoji_reaction_users: 'Whether a reaction with few users shows their names instead of their number.',
  starred_message_counts: 'Whether clients show the number of starred messages.',
  enter_sends: 'Whether the Enter key sends the message that is being written.',
  web_suggest_update_timezone: 'Whether a client offers to update the time zone when that of the device differs.',
  color_scheme: 'The colors of the interface: 1 follows the system, 2 is dark, 3 is light.',
  web_font_size_px: 'The font size of web and desktop clients, in pixels.',
  web_line_height_percent: 'The line height of web and desktop clients, in percent.',
  web_animate_image_previews: 'When previews of animated images move.',
  demote_inactive_streams: 'Whether inactive channels are listed last: 1 automatic, 2 always, 3 never.',
  web_mark_read_on_scroll_policy:
    'Whether scrolling marks messages as read: 1 always, 2 only in conversation views, 3 never.',
  web_channel_default_view:
    'What a click on a channel opens: 1 its newest topic, 2 all of its messages, 3 its list of topics, 4 its topmost unread topic.',
  emojiset: 'The set of pictures for emoji. `set_a` and `set_b` are neutral names of `google` and `twitter`.',
  user_list_style:
    'What the list of users shows: 1 names, 2 names and status texts, 3 names, status texts and avatars.',
  web_stream_unreads_count_display_policy:
    'For which channels unread messages are counted: 1 all, 2 those that are not muted, 3 none.',
  web_left_sidebar_unreads_count_summary: 'Whether the sidebar shows the sum of unread messages of each section.',
  web_left_sidebar_show_channel_folders: 'Whether the sidebar groups channels by their folders.',
  web_navigate_to_sent_message: 'Whether a client shows the conversation to which a message was sent.',
  hide_ai_features: 'Whether clients hide features that use a language model.',
  timezone: 'The IANA name of the time zone in the profile. The empty text stands for none.',
  email_notifications_batching_period_seconds:
    'How many seconds messages are collected before they are reported in one email.',
  enable_stream_desktop_notifications: 'Whether messages in channels give visual desktop notifications.',
  enable_stream_email_notifications: 'Whether messages in channels give email notifications.',
  enable_stream_push_notifications: 'Whether messages in channels give mobile notifications.',
  enable_stream_audible_notifications: 'Whether messages in channels give a sound.',
  notification_sound: 'The sound of notifications.',
  wildcard_mentions_notify: 'Whether a mention of all subscribers notifies like a personal mention.',
  enable_followed_topic_desktop_notifications: 'Whether messages in followed topics give visual desktop notifications.',
  enable_followed_topic_email_notifications: 'Whether messages in followed topics give email notifications.',
  enable_followed_topic_push_notifications: 'Whether messages in followed topics give mobile notifications.',
  enable_followed_topic_audible_notifications: 'Whether messages in followed topics give a sound.',
  enable_followed_topic_wildcard_mentions_notify:
    'Whether a mention of all participants of a followed topic notifies like a personal mention.',
  enable_desktop_notifications: 'Whether direct messages and mentions give visual desktop notifications.',
  pm_content_in_desktop_notifications: 'Whether desktop notifications show the content of direct messages.',
  enable_sounds: 'Whether direct messages and mentions give a sound.',
  enable_offline_email_notifications: 'Whether direct messages and mentions are mailed to a user who is offline.',
  message_content_in_email_notifications: 'Whether emails about missed messages contain their content.',
  enable_offline_push_notifications: 'Whether direct messages and mentions give mobile notifications while offline.',
  enable_online_push_notifications: 'Whether mobile notifications are also sent while the user is online.',
  desktop_icon_count_display:
    'What the number at the icon of the desktop application counts: 1 all unread messages, 2 direct messages, mentions and followed topics, 3 direct messages and mentions, 4 nothing.',
  enable_digest_emails: 'Whether the user gets a digest by email after a time without activity.',
  enable_login_emails: 'Whether the user gets an email about each login from a new device.',
  enable_marketing_emails: 'Whether the user gets emails with news about the product.',
  presence_enabled: 'Whether other users see when this user is active or idle.',
  realm_name_in_email_notifications_policy:
    'Whether subjects of notification emails name the organization: 1 automatic, 2 always, 3 never.',
  automatically_follow_topics_policy:
    'Which topics the user follows automatically: 1 those that they take part in, 2 those that they send to, 3 those that they start, 4 none.',
  automatically_unmute_topics_in_muted_streams_policy:
    'Which topics of muted channels are unmuted automatically: 1 those that the user takes part in, 2 those that they send to, 3 those that they start, 4 none.',
  automatically_follow_topics_where_mentioned:
    'Whether the user automatically follows topics where they are mentioned.',
  resolved_topic_notice_auto_read_policy:
    'In which topics the notice that a topic was resolved or reopened is marked as read at once.',
  enable_drafts_synchronization: 'Whether clients store drafts on the server.',
  send_stream_typing_notifications: 'Whether others see that the user is typing in a channel.',
  send_private_typing_notifications: 'Whether others see that the user is typing a direct message.',
  receives_typing_notifications: 'Whether the user is told that others are typing.',
  send_read_receipts: 'Whether others see which messages the user has read.',
  allow_private_data_export: 'Whether an export of the organization may contain private data of the user.',
  email_address_visibility:
    'Who sees the real email address: 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators.',
};
