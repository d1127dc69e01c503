import { z } from 'zod';
import { botSchema } from '../operations/bots.ts';
import { userGroupSchema } from '../operations/groups.ts';
import { userSchema } from '../operations/users.ts';
import { groupPermissions, groupSettingSchema } from '../permission-settings.ts';
import { type UserSettingName, userSettingNames, userSettings } from '../user-settings.ts';
import { bool, int, ints, propertyOf, str } from './shapes.ts';

const { role, avatar_version } = userSchema.shape;
/** One thing about a person; what belongs together changes together. */
const personChange = z.union(
  (
    [
      { full_name: str },
      { role },
      { avatar_url: str, avatar_url_medium: str, avatar_source: z.enum(['G', 'U']), avatar_version },
      { email: str, timezone: str },
      { bot_owner_id: int },
      { delivery_email: str.nullable() },
      { new_email: str },
      { is_active: bool },
      {
        custom_profile_field: z.strictObject({ id: int, value: str.nullable(), rendered_value: str.optional() }),
      },
    ] as z.ZodRawShape[]
  ).map((fields) => z.strictObject({ user_id: int, ...fields })),
);
const person = z.strictObject({ person: userSchema.strict() });
const bot = botSchema.strict();

const here = z.strictObject({ active_timestamp: int, idle_timestamp: int });
const website = z.strictObject({
  client: z.literal('website'),
  status: z.enum(['active', 'idle']),
  timestamp: int,
  pushable: z.literal(false),
});
const presence = z.union([
  z.strictObject({ presences: z.record(z.string().regex(/^\d+$/), here) }),
  z.strictObject({
    user_id: int,
    email: str.optional(),
    server_timestamp: z.number(),
    presence: z.strictObject({ website }),
  }),
]);

const members = z.strictObject({ group_id: int, user_ids: ints });
const subgroups = z.strictObject({ group_id: int, direct_subgroup_ids: ints });
const groupChange = z
  .strictObject({
    name: str,
    description: str,
    deactivated: bool,
    ...Object.fromEntries(Object.keys(groupPermissions).map((name) => [name, groupSettingSchema])),
  })
  .partial()
  .refine((data) => Object.keys(data).length > 0, 'something changed');

const settingValue = (name: UserSettingName): z.ZodType => userSettings[name].param.schema.unwrap();
const language = { language_name: str };
const more = (name: string) => (name === 'default_language' ? language : {});
export const settingChanges = (names: readonly UserSettingName[]) =>
  z.discriminatedUnion(
    'property',
    names.map((name) => propertyOf(name, settingValue(name), more(name))) as unknown as [
      ReturnType<typeof propertyOf>,
      ...ReturnType<typeof propertyOf>[],
    ],
  );
/** The forms of clients that know no `user_settings`. */
const legacyChanges = (legacy: 'display' | 'notifications', key: 'setting_name' | 'notification_name') =>
  z.union(
    userSettingNames
      .filter((name) => userSettings[name].legacy === legacy)
      .map((name) => z.strictObject({ user: str, [key]: z.literal(name), setting: settingValue(name), ...more(name) })),
  );

/** People, what they do, and the groups they are in. */
export const peopleEvents = {
  'realm_user/add': person,
  'realm_user/remove': z.strictObject({ person: z.strictObject({ user_id: int, full_name: str }) }),
  'realm_user/update': z.strictObject({ person: personChange }),
  'realm_bot/add': z.strictObject({ bot }),
  'realm_bot/update': z.strictObject({
    bot: bot
      .partial()
      .required({ user_id: true })
      .refine((changed) => Object.keys(changed).length > 1, 'something changed'),
  }),
  'realm_bot/remove': z.strictObject({ bot: z.strictObject({ user_id: int, full_name: str.optional() }) }),
  'realm_bot/delete': z.strictObject({ bot: z.strictObject({ user_id: int }) }),
  presence,
  user_status: z
    .strictObject({
      user_id: int,
      away: bool.optional(),
      status_text: str.optional(),
      emoji_name: str.optional(),
      emoji_code: str.optional(),
      reaction_type: str.optional(),
    })
    .refine((status) => Object.keys(status).length > 1, 'something changed'),
  'user_group/add': z.strictObject({ group: userGroupSchema.strict() }),
  'user_group/update': z.strictObject({ group_id: int, data: groupChange }),
  'user_group/add_members': members,
  'user_group/remove_members': members,
  'user_group/add_subgroups': subgroups,
  'user_group/remove_subgroups': subgroups,
  'user_group/remove': z.strictObject({ group_id: int }),
  'user_settings/update': settingChanges(userSettingNames),
  update_display_settings: legacyChanges('display', 'setting_name'),
  update_global_notifications: legacyChanges('notifications', 'notification_name'),
};
