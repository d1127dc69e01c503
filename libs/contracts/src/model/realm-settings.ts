import { z } from 'zod';
import { id, integer, string, trimmed, trimmedNonEmpty, union } from './bounded.ts';
import { keysOf } from './keys.ts';
import { limits } from './limits.ts';
import { type Param, text, textOrJson } from './param.ts';
import { languages } from './user-settings.ts';

/**
 * One setting of a realm that `PATCH /realm` changes. Clients read it as `realm_<name>` and receive changes under the
 * plain name.
 */
export interface RealmSetting<S extends z.ZodType = z.ZodType, D extends z.output<S> = z.output<S>> {
  param: Param<z.ZodOptional<S>>;
  default: D;
  /** Announced together with others in `realm/update_dict`, not on its own in `realm/update`. */
  isLinked: boolean;
  /** Only owners may change it. */
  isOwners: boolean;
  /** The id of a channel of this realm, or -1 for none. */
  isChannel: boolean;
}

type Rules = Partial<Pick<RealmSetting, 'isLinked' | 'isOwners' | 'isChannel'>>;

const setting = <S extends z.ZodType, D extends z.output<S>>(
  param: Param<z.ZodOptional<S>>,
  initial: D,
  rules: Rules = {},
): RealmSetting<S, D> => ({ param, default: initial, isLinked: false, isOwners: false, isChannel: false, ...rules });

const plain = (max: number, initial = '') => setting(text(trimmed(max).optional()), initial);
const flag = (initial: boolean, rules?: Rules) => setting(textOrJson(z.boolean().optional()), initial, rules);
const choice = <const T extends readonly [string, ...string[]]>(values: T, initial: T[number], rules?: Rules) =>
  setting(textOrJson(z.enum(values).optional()), initial, rules);
const number = (schema: typeof id, initial: number, rules?: Rules) =>
  setting(textOrJson(schema.optional()), initial, rules);
/** Seconds, or `unlimited`, which clients read as null. */
const secondsLimit = (initial: number | null, rules?: Rules) =>
  setting(
    textOrJson(union([id.min(1), z.literal('unlimited').transform(() => null), z.null()]).optional()),
    initial,
    rules,
  );
const channel = () => setting(textOrJson(id.min(-1).optional()), -1, { isChannel: true });

const orgTypes = [0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 110, 1000] as const;
/** Disabled, or a Jitsi server. */
export const videoChatProviders = { disabled: { name: 'None', id: 0 }, jitsi_meet: { name: 'Jitsi Meet', id: 1 } };
export const gifRatings = {
  disabled: { name: 'GIPHY integration disabled', id: 0 },
  y: { name: 'Allow GIFs rated Y (Very young audience)', id: 1 },
  g: { name: 'Allow GIFs rated G (General audience)', id: 2 },
  pg: { name: 'Allow GIFs rated PG (Parental guidance)', id: 3 },
  'pg-13': { name: 'Allow GIFs rated PG-13 (Parental guidance - under 13)', id: 4 },
  r: { name: 'Allow GIFs rated R (Restricted)', id: 5 },
};

export const realmSettings = {
  name: setting(text(trimmedNonEmpty(40).optional()), ''),
  description: plain(1000),
  org_type: setting(
    textOrJson(id.refine((value) => orgTypes.some((type) => type === value), 'not an organization type').optional()),
    0,
  ),
  default_language: setting(textOrJson(z.enum(languages).optional()), 'en'),
  default_code_block_language: plain(100),
  welcome_message_custom_text: setting(text(string(limits.welcomeTextLength).optional()), ''),

  emails_restricted_to_domains: flag(false, { isOwners: true }),
  disallow_disposable_email_addresses: flag(true, { isOwners: true }),
  invite_required: flag(true, { isOwners: true }),
  /** A user of a reusable link must confirm by mail that the address is theirs. */
  invite_links_verify_email: flag(false),
  name_changes_disabled: flag(false),
  email_changes_disabled: flag(false),
  avatar_changes_disabled: flag(false),
  require_unique_names: flag(false),
  waiting_period_threshold: number(integer(0, 36_500), 0, { isOwners: true }),

  inline_image_preview: flag(true),
  inline_url_embed_preview: flag(false),
  message_content_allowed_in_email_notifications: flag(true),
  presence_disabled: flag(false),
  send_welcome_emails: flag(true),
  digest_emails_enabled: flag(false),
  digest_weekday: number(integer(0, 6), 1),
  enable_read_receipts: flag(true),
  enable_spectator_access: flag(false),
  want_advertise_in_communities_directory: flag(false),
  enable_guest_user_indicator: flag(true),
  enable_guest_user_dm_warning: flag(true),
  require_e2ee_push_notifications: flag(false),
  send_channel_events_messages: flag(true),
  giphy_rating: number(integer(0, 5), 2),
  video_chat_provider: setting(
    textOrJson(
      id
        .refine((value) => Object.values(videoChatProviders).some(({ id }) => id === value), 'not a provider')
        .optional(),
    ),
    1,
  ),
  jitsi_server_url: setting(
    textOrJson(
      union([
        z.literal('default').transform(() => null),
        z.null(),
        string(200).check(z.url({ protocol: /^https?$/ })),
      ]).optional(),
    ),
    null,
  ),

  allow_message_editing: flag(true, { isLinked: true }),
  message_content_edit_limit_seconds: secondsLimit(600, { isLinked: true }),
  message_content_delete_limit_seconds: secondsLimit(600),
  move_messages_within_stream_limit_seconds: secondsLimit(604_800),
  move_messages_between_streams_limit_seconds: secondsLimit(604_800),
  message_edit_history_visibility_policy: choice(['all', 'moves', 'none'], 'all'),
  message_retention_days: setting(
    textOrJson(union([id.min(1), z.literal(-1), z.literal('unlimited').transform(() => -1)]).optional()),
    -1,
    { isOwners: true },
  ),
  topics_policy: choice(['allow_empty_topic', 'disable_empty_topic'], 'allow_empty_topic'),

  moderation_request_channel_id: channel(),
  new_stream_announcements_stream_id: channel(),
  signup_announcements_stream_id: channel(),
  zulip_update_announcements_stream_id: channel(),
} as const satisfies Record<string, RealmSetting>;

export type RealmSettingName = keyof typeof realmSettings;
export type RealmSettingValues = {
  [N in RealmSettingName]: Exclude<z.output<(typeof realmSettings)[N]['param']['schema']>, undefined>;
};
export const realmSettingNames = keysOf(realmSettings);

/** Initial values of all settings in a new realm; the key is the realm's own name of the setting. */
export const realmSettingDefaults = Object.fromEntries(
  Object.entries(realmSettings).map(([name, { default: initial }]) => [name, initial]),
) as RealmSettingValues;
