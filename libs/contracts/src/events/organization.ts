import { z } from 'zod';
import { entriesOf } from '../model/keys.ts';
import { type GroupSetting, groupSettingSchema, type RealmPermission } from '../model/permission-settings.ts';
import {
  type RealmSetting,
  type RealmSettingName,
  type RealmSettingValues,
  realmSettings,
} from '../model/realm-settings.ts';
import { realmDefaultNames } from '../model/user-settings.ts';
import { profileFieldSchema } from '../operations/profile-fields.ts';
import { linkifierSchema, playgroundSchema, realmDomainSchema, realmEmojiSchema } from '../operations/realm.ts';
import { realmPermissionMeanings } from '../vocabulary/index.ts';
import { permissionMirrors, settingMirrors, settingValue } from '../vocabulary/realm-setting-values.ts';
import { eventsOf } from './declare.ts';
import { settingChanges } from './settings.ts';
import { bool, type ChangeOf, int, isNotEmpty, propertyOf, str, typed } from './shapes.ts';

const settings = entriesOf<Record<RealmSettingName, RealmSetting>>(realmSettings);
const alone = settings.filter(([, { isLinked }]) => !isLinked);
/** Settings that name a channel change alone, or together when the channel is archived. */
const together = settings.filter(([, { isLinked, isChannel }]) => isLinked || isChannel);
const valuesOf = (some: typeof settings) =>
  Object.fromEntries(some.map(([name, one]) => [name, settingValue(name, one)]));

type RealmValues = RealmSettingValues & z.output<z.ZodObject<typeof settingMirrors>>;
export type RealmProperty = keyof RealmValues;
export type RealmValue<P extends RealmProperty> = RealmValues[P];
type RealmChange = ChangeOf<RealmValues>;
// The compiler does not infer that a property and its value form one member of the union.
export function realmChange<P extends RealmProperty>(property: P, value: RealmValue<P>): RealmChange;
export function realmChange(property: string, value: unknown): object {
  return { property, value };
}
const realmChangeSchema = typed<RealmChange>(
  z.discriminatedUnion('property', [
    propertyOf('allow_edit_history', settingMirrors.allow_edit_history),
    propertyOf('mandatory_topics', settingMirrors.mandatory_topics),
    ...alone.map(([name, one]) => propertyOf(name, settingValue(name, one))),
  ]),
);

const pictures = ['icon', 'logo', 'night_logo'] as const;
type Picture = (typeof pictures)[number];
type PictureChange<K extends Picture = Picture> = {
  [P in K]: { property: P; data: Record<`${P}_url`, string> & Record<`${P}_source`, 'U' | 'D'> };
}[K];
/** Permissions, and settings that change as a group. */
export type RealmData = Partial<
  RealmSettingValues & Record<RealmPermission, GroupSetting> & z.output<z.ZodObject<typeof permissionMirrors>>
>;
const realmChanges = typed<{ property: 'default'; data: RealmData } | PictureChange>(
  z.discriminatedUnion('property', [
    z.strictObject({
      property: z.literal('default').describe('Settings or permissions changed.'),
      data: z
        .strictObject({
          ...valuesOf(together),
          ...Object.fromEntries(
            Object.entries(realmPermissionMeanings).map(([name, meaning]) => [
              name,
              groupSettingSchema.describe(meaning),
            ]),
          ),
          ...permissionMirrors,
        })
        .partial()
        .refine(...isNotEmpty)
        .describe('The new values.'),
    }),
    ...pictures.map((kind) =>
      z.strictObject({
        property: z.literal(kind).describe('A picture changed.'),
        data: z
          .strictObject({ [`${kind}_url`]: str, [`${kind}_source`]: z.enum(['U', 'D']) })
          .describe('The new picture.'),
      }),
    ),
  ]),
);

const domain = z.strictObject({ realm_domain: realmDomainSchema.strict() });
const emoji = realmEmojiSchema.strict();

const event = eventsOf('users');
const audience = 'realm' as const;

/** Events about the realm and its collections: domains, emoji, linkifiers, playgrounds, profile fields. */
export const organizationEvents = {
  'realm/update': event('One setting of the realm changed.', {
    audience,
    body: realmChangeSchema,
  }),
  'realm/update_dict': event('Settings, permissions or a picture of the realm changed.', {
    audience,
    body: realmChanges,
  }),
  'realm/deactivated': event('The realm was deactivated.', { audience, body: z.strictObject({ realm_id: int }) }),
  'realm_user_settings_defaults/update': event('New users start with another value of a setting.', {
    audience,
    body: settingChanges(realmDefaultNames),
  }),
  'realm_domains/add': event('A domain of the realm is new.', { audience, body: domain }),
  'realm_domains/change': event('A domain of the realm changed.', { audience, body: domain }),
  'realm_domains/remove': event('A domain of the realm is gone.', { audience, body: z.strictObject({ domain: str }) }),
  'realm_emoji/update': event('The emoji of the realm, all of them, deactivated ones too.', {
    audience,
    body: z.strictObject({ realm_emoji: z.record(str, emoji) }),
  }),
  'realm_emoji/add': event('An emoji of the realm is new; for clients that take them one by one.', {
    audience,
    body: z.strictObject({ emoji: emoji.describe('The custom emoji.') }),
  }),
  'realm_emoji/update_one': event('An emoji of the realm changed; for clients that take them one by one.', {
    audience,
    body: z.strictObject({
      emoji_id: str,
      data: z
        .strictObject({
          name: str.describe('The name of the emoji, without colons.'),
          author_id: int.nullable(),
          deactivated: bool,
        })
        .partial()
        .refine(...isNotEmpty)
        .describe('What changed.'),
    }),
  }),
  realm_linkifiers: event('The linkifiers, all of them, in their order.', {
    audience,
    body: z.strictObject({ realm_linkifiers: z.array(linkifierSchema.strict()) }),
  }),
  realm_playgrounds: event('The code playgrounds, all of them.', {
    audience,
    body: z.strictObject({ realm_playgrounds: z.array(playgroundSchema.strict()) }),
  }),
  realm_export_consent: event('Somebody consents to the export of private data, or no more.', {
    audience: 'users',
    body: z.strictObject({ user_id: int, consented: bool }),
  }),
  custom_profile_fields: event(
    'All profile fields, in their order. Values of a missing field, or of a missing option of a list, no longer exist.',
    {
      audience,
      body: z.strictObject({
        fields: z.array(profileFieldSchema.strict()).describe('The custom profile fields, in their order.'),
      }),
    },
  ),
};
