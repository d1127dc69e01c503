import { z } from 'zod';
import { profileFieldSchema } from '../operations/profile-fields.ts';
import { linkifierSchema, playgroundSchema, realmDomainSchema, realmEmojiSchema } from '../operations/realm.ts';
import { groupSettingSchema, realmPermissions } from '../permission-settings.ts';
import { type RealmSetting, realmSettings } from '../realm-settings.ts';
import { realmDefaultNames } from '../user-settings.ts';
import { settingChanges } from './people.ts';
import { bool, int, propertyOf, str } from './shapes.ts';

/** What is null by default, or may become so. */
const nullable: Record<string, z.ZodType> = {
  message_content_edit_limit_seconds: int.nullable(),
  message_content_delete_limit_seconds: int.nullable(),
  move_messages_within_stream_limit_seconds: int.nullable(),
  move_messages_between_streams_limit_seconds: int.nullable(),
  jitsi_server_url: str.nullable(),
};
const kinds: Record<string, z.ZodType> = { boolean: bool, number: int, string: str };
const settingValue = (name: string, { default: initial }: RealmSetting): z.ZodType =>
  nullable[name] ?? kinds[typeof initial] ?? z.never();

const settings = Object.entries(realmSettings as Record<string, RealmSetting>);
const alone = settings.filter(([, { isLinked }]) => !isLinked);
const linked = settings.filter(([, { isLinked }]) => isLinked);
const valuesOf = (some: typeof settings) =>
  Object.fromEntries(some.map(([name, one]) => [name, settingValue(name, one)]));

const realmChange = z.discriminatedUnion('property', [
  // Older names for what a setting says.
  propertyOf('allow_edit_history', bool),
  propertyOf('mandatory_topics', bool),
  ...alone.map(([name, one]) => propertyOf(name, settingValue(name, one))),
]);
const picture = <K extends 'icon' | 'logo' | 'night_logo'>(kind: K) =>
  z.strictObject({
    property: z.literal(kind),
    data: z.strictObject({ [`${kind}_url`]: str, [`${kind}_source`]: z.enum(['U', 'D']) }),
  });
const realmChanges = z.discriminatedUnion('property', [
  z.strictObject({
    property: z.literal('default'),
    data: z
      .strictObject({
        ...valuesOf(linked),
        ...Object.fromEntries(Object.keys(realmPermissions).map((name) => [name, groupSettingSchema])),
        create_public_stream_policy: int,
        create_private_stream_policy: int,
        create_web_public_stream_policy: int,
        wildcard_mention_policy: int,
      })
      .partial()
      .refine((data) => Object.keys(data).length > 0, 'something changed'),
  }),
  picture('icon'),
  picture('logo'),
  picture('night_logo'),
]);

const domain = z.strictObject({ realm_domain: realmDomainSchema.strict() });
const emoji = realmEmojiSchema.strict();
const realmExport = z.strictObject({
  id: int,
  acting_user_id: int,
  export_time: z.number(),
  deleted_timestamp: z.number().nullable(),
  failed_timestamp: z.number().nullable(),
  export_url: str.nullable(),
  pending: bool,
  export_type: z.literal([1, 2]),
});

/** The realm, and what it has several of. */
export const organizationEvents = {
  'realm/update': realmChange,
  'realm/update_dict': realmChanges,
  'realm/deactivated': z.strictObject({ realm_id: int }),
  realm_billing: propertyOf('has_pending_sponsorship_request', bool),
  'realm_user_settings_defaults/update': settingChanges(realmDefaultNames),
  'realm_domains/add': domain,
  'realm_domains/change': domain,
  'realm_domains/remove': z.strictObject({ domain: str }),
  'realm_emoji/update': z.strictObject({ realm_emoji: z.record(str, emoji) }),
  'realm_emoji/add': z.strictObject({ emoji }),
  'realm_emoji/update_one': z.strictObject({
    emoji_id: str,
    data: z
      .strictObject({ name: str, author_id: int.nullable(), deactivated: bool })
      .partial()
      .refine((data) => Object.keys(data).length > 0, 'something changed'),
  }),
  realm_linkifiers: z.strictObject({ realm_linkifiers: z.array(linkifierSchema.strict()) }),
  realm_filters: z.strictObject({ realm_filters: z.tuple([]) }),
  realm_playgrounds: z.strictObject({ realm_playgrounds: z.array(playgroundSchema.strict()) }),
  realm_export: z.strictObject({ exports: z.array(realmExport) }),
  realm_export_consent: z.strictObject({ user_id: int, consented: bool }),
  custom_profile_fields: z.strictObject({ fields: z.array(profileFieldSchema.strict()) }),
  restart: z.strictObject({
    zulip_version: str,
    zulip_merge_base: str,
    zulip_feature_level: int,
    service_version: str,
    service_feature_level: int,
    server_generation: int,
  }),
  web_reload_client: z.strictObject({ immediate: bool }),
};
