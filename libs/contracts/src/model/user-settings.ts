import { z } from 'zod';
import { type BoundedValue, integer, string } from './bounded.ts';
import { keysOf } from './keys.ts';
import { type Param, textOrJson } from './param.ts';

/** One personal setting: its values, its default, who else may set it, and how older clients receive it. */
export interface UserSetting<S extends z.ZodType = z.ZodType, D extends z.output<S> = z.output<S>> {
  param: Param<z.ZodOptional<S>>;
  default: D;
  /** `PATCH /realm/user_settings_defaults` changes the value for new users. */
  isRealmDefault: boolean;
  /** The event and the flat keys for clients without `user_settings_object`. */
  legacy: 'display' | 'notifications' | undefined;
}

type Rules = Partial<Pick<UserSetting, 'isRealmDefault' | 'legacy'>>;
const display: Rules = { legacy: 'display' };
const notifications: Rules = { legacy: 'notifications' };
const ownOnly: Rules = { isRealmDefault: false };

const setting = <S extends BoundedValue, D extends z.output<S>>(
  schema: S,
  initial: D,
  rules: Rules = {},
): UserSetting<S, D> => ({
  param: textOrJson(z.optional(schema)),
  default: initial,
  isRealmDefault: true,
  legacy: undefined,
  ...rules,
});
const flag = (initial: boolean, rules?: Rules) => setting(z.boolean(), initial, rules);
const choice = <const T extends readonly [string, ...string[]]>(values: T, initial: T[number], rules?: Rules) =>
  setting(z.enum(values), initial, rules);
const number = <const T extends readonly number[]>(values: T, initial: T[number], rules?: Rules) =>
  setting(z.literal([...values]), initial, rules);
const range = (min: number, max: number, initial: number, rules?: Rules) => setting(integer(min, max), initial, rules);

export const languageNames = { en: 'English', de: 'Deutsch', es: 'Español', fr: 'Français', ja: '日本語' } as const;
export type Language = keyof typeof languageNames;
export const languages = keysOf(languageNames);
export const notificationSounds = ['ding', 'zulip'] as const;
/** The names of emoji sets, under both spellings. */
export const emojisets = { google: 'Google', twitter: 'Twitter', text: 'Plain text', 'google-blob': 'Google blobs' };

const isTimeZone = (name: string): boolean => {
  if (name === '') return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/**
 * All personal settings with their defaults. Changes are announced as `user_settings/update`, and to older clients
 * under `legacy`.
 */
export const userSettings = {
  twenty_four_hour_time: flag(false, display),
  default_language: setting(z.enum(languages), 'en', { ...display, ...ownOnly }),
  left_side_userlist: flag(false, display),
  web_home_view: choice(['inbox', 'recent_topics', 'all_messages'], 'inbox', display),
  web_escape_navigates_to_home_view: flag(true),
  fluid_layout_width: flag(false, display),
  high_contrast_mode: flag(false, display),
  translate_emoticons: flag(false, display),
  display_emoji_reaction_users: flag(true),
  starred_message_counts: flag(true, display),
  enter_sends: flag(false, display),
  web_suggest_update_timezone: flag(true),
  color_scheme: number([1, 2, 3], 1, display),
  web_font_size_px: range(1, 200, 16),
  web_line_height_percent: range(1, 1000, 140),
  web_animate_image_previews: choice(['always', 'on_hover', 'never'], 'on_hover'),
  demote_inactive_streams: number([1, 2, 3], 1, display),
  web_mark_read_on_scroll_policy: number([1, 2, 3], 1),
  web_channel_default_view: number([1, 2, 3, 4], 1),
  emojiset: choice(['google', 'twitter', 'text', 'google-blob', 'set_a', 'set_b'], 'google', display),
  user_list_style: number([1, 2, 3], 3),
  web_stream_unreads_count_display_policy: number([1, 2, 3], 2),
  web_left_sidebar_unreads_count_summary: flag(true),
  web_left_sidebar_show_channel_folders: flag(true),
  web_navigate_to_sent_message: flag(true),
  hide_ai_features: flag(false),
  timezone: setting(string(50).refine(isTimeZone, 'not a time zone'), '', { ...display, ...ownOnly }),
  email_notifications_batching_period_seconds: range(1, 604_800, 120, notifications),
  enable_stream_desktop_notifications: flag(false, notifications),
  enable_stream_email_notifications: flag(false, notifications),
  enable_stream_push_notifications: flag(false, notifications),
  enable_stream_audible_notifications: flag(false, notifications),
  notification_sound: choice([...notificationSounds, 'none'], 'zulip', notifications),
  wildcard_mentions_notify: flag(true, notifications),
  enable_followed_topic_desktop_notifications: flag(true),
  enable_followed_topic_email_notifications: flag(true),
  enable_followed_topic_push_notifications: flag(true),
  enable_followed_topic_audible_notifications: flag(true),
  enable_followed_topic_wildcard_mentions_notify: flag(true),
  enable_desktop_notifications: flag(true, notifications),
  pm_content_in_desktop_notifications: flag(true, notifications),
  enable_sounds: flag(true, notifications),
  enable_offline_email_notifications: flag(true, notifications),
  message_content_in_email_notifications: flag(true, notifications),
  enable_offline_push_notifications: flag(true, notifications),
  enable_online_push_notifications: flag(true, notifications),
  desktop_icon_count_display: number([1, 2, 3, 4], 1, notifications),
  enable_digest_emails: flag(true, notifications),
  enable_login_emails: flag(true, { ...notifications, ...ownOnly }),
  enable_marketing_emails: flag(true, { ...notifications, ...ownOnly }),
  presence_enabled: flag(true, notifications),
  realm_name_in_email_notifications_policy: number([1, 2, 3], 1, notifications),
  automatically_follow_topics_policy: number([1, 2, 3, 4], 3),
  automatically_unmute_topics_in_muted_streams_policy: number([1, 2, 3, 4], 2),
  automatically_follow_topics_where_mentioned: flag(true),
  resolved_topic_notice_auto_read_policy: choice(['always', 'except_followed', 'never'], 'except_followed'),
  enable_drafts_synchronization: flag(true, display),
  send_stream_typing_notifications: flag(true),
  send_private_typing_notifications: flag(true),
  receives_typing_notifications: flag(true),
  send_read_receipts: flag(true),
  allow_private_data_export: flag(false, ownOnly),
  email_address_visibility: number([1, 2, 3, 4, 5], 1),
} as const satisfies Record<string, UserSetting>;

export type UserSettingName = keyof typeof userSettings;
export type UserSettingValues = {
  [N in UserSettingName]: Exclude<z.output<(typeof userSettings)[N]['param']['schema']>, undefined>;
};
export const userSettingNames = keysOf(userSettings);
export const realmDefaultNames = userSettingNames.filter((name) => userSettings[name].isRealmDefault);

export const userSettingDefaults = Object.fromEntries(
  Object.entries(userSettings).map(([name, { default: initial }]) => [name, initial]),
) as UserSettingValues;
