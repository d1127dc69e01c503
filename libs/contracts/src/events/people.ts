import { z } from 'zod';
import { type GroupPermission, type GroupSetting, groupSettingSchema } from '../model/permission-settings.ts';
import { type UserSettingValues, userSettingNames } from '../model/user-settings.ts';
import { botSchema } from '../operations/bots.ts';
import { userGroupSchema } from '../operations/groups.ts';
import { userSchema } from '../operations/users.ts';
import { groupPermissionMeanings } from '../vocabulary/permissions.ts';
import { eventsOf } from './declare.ts';
import { legacyChanges, settingChanges } from './settings.ts';
import { bool, int, ints, isNotEmpty, str, typed } from './shapes.ts';

const { role, avatar_version, timezone } = userSchema.shape;
const personChanges = [
  { full_name: str },
  { role },
  { avatar_url: str, avatar_url_medium: str, avatar_source: z.enum(['G', 'U']), avatar_version },
  { email: str, timezone },
  { bot_owner_id: int },
  { delivery_email: str.nullable() },
  { new_email: str },
  { is_active: bool },
  {
    custom_profile_field: z.strictObject({
      id: int.describe('The ID of the field.'),
      value: str.nullable().describe('The new value; null if it was removed.'),
      rendered_value: str.optional(),
    }),
  },
] as const;
type AllOf<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;
type FieldsOf<S> = S extends z.ZodRawShape ? z.output<z.ZodObject<S>> : never;
/** A change of one property of a user, or of several that depend on each other. */
export type PersonChange = { user_id: number } & Partial<AllOf<FieldsOf<(typeof personChanges)[number]>>>;
const personChange = typed<PersonChange>(
  z.union(personChanges.map((fields) => z.strictObject({ user_id: int, ...fields }))),
);
const bot = botSchema.strict();

const here = z.strictObject({ active_timestamp: int, idle_timestamp: int });
const website = z.strictObject({
  client: z.literal('website'),
  status: z.enum(['active', 'idle']).describe('Whether the user is active or idle.'),
  timestamp: int.describe('When the user was last seen so, in seconds since the epoch.'),
  pushable: z.literal(false),
});
const presence = z.union([
  z.strictObject({ presences: z.record(z.string().regex(/^\d+$/), here) }),
  z.strictObject({
    user_id: int,
    email: str.optional(),
    server_timestamp: z.number(),
    presence: z.strictObject({ website }).describe('The presence of the user.'),
  }),
]);

/** Data about a new user for other services: the real address, the initial settings, and the rights from the invitation. */
const newcomer = z.strictObject({
  delivery_email: str,
  settings: typed<Partial<UserSettingValues>>(z.record(str, z.unknown())),
  /** Whether the invitation includes the default channels; by default for all but guests. */
  default_channels: bool.optional(),
  /** Further channels of the invitation. */
  channel_ids: z.array(int).optional(),
  /** Names of the default channels of a new realm, which its first owner creates by joining. */
  first_channels: z.array(str).optional(),
  invited_by: int.nullish(),
  /** According to the realm's permission at the time when the new user joined. */
  inviter_may_add_subscribers: bool.optional(),
  notify_inviter: bool.optional(),
  /** Replaces the realm's text; '' sends none. */
  welcome_message_custom_text: str.nullish(),
});
export type NewcomerNote = z.output<typeof newcomer>;

const members = z.strictObject({ group_id: int, user_ids: ints });
const subgroups = z.strictObject({ group_id: int, direct_subgroup_ids: ints });
const groupFields = { name: str.describe('The name of the group.'), description: str, deactivated: bool };
export type GroupChange = Partial<z.output<z.ZodObject<typeof groupFields>> & Record<GroupPermission, GroupSetting>>;
const groupChange = typed<GroupChange>(
  z
    .strictObject({
      ...groupFields,
      ...Object.fromEntries(
        Object.entries(groupPermissionMeanings).map(([name, meaning]) => [name, groupSettingSchema.describe(meaning)]),
      ),
    })
    .partial()
    .refine(...isNotEmpty)
    .describe('What changed.'),
);
/** The actor who changed the members of a group, and the users concerned. */
const membership = z.strictObject({ by: int, user_ids: ints });
const added = z.strictObject({ added: membership }).optional();
const removed = z.strictObject({ removed: membership }).optional();
/** The stored value, if it names deactivated users: clients are not shown them. */
const storedMention = z.strictObject({ can_mention_group: groupSettingSchema }).optional();

const event = eventsOf('users');

/**
 * Events about users, presence, status and groups. In realms that limit guests, guests receive those about visible users only.
 */
export const peopleEvents = {
  'realm_user/add': event('Somebody is new, or becomes known to a guest.', {
    audience: 'either',
    body: z.strictObject({ person: userSchema.strict() }),
    note: newcomer.optional(),
  }),
  'realm_user/remove': event('Somebody is no longer known to a guest.', {
    audience: 'users',
    body: z.strictObject({ person: z.strictObject({ user_id: int, full_name: str }) }),
  }),
  'realm_user/update': event('One thing about a person changed.', {
    audience: 'either',
    body: z.strictObject({ person: personChange }),
    // `ends_queues`: so much changes for the person that their queues end, and their clients register again.
    note: z.strictObject({ delivery_email: str.optional(), ends_queues: z.literal(true).optional() }).optional(),
  }),
  'realm_bot/add': event('A bot is new, or becomes visible to an administrator.', {
    audience: 'users',
    body: z.strictObject({ bot }),
  }),
  'realm_bot/update': event('A bot changed.', {
    audience: 'users',
    body: z.strictObject({
      bot: bot
        .partial()
        .required({ user_id: true })
        .refine((changed) => Object.keys(changed).length > 1, 'something changed'),
    }),
  }),
  'realm_bot/remove': event('A bot was deactivated.', {
    audience: 'users',
    body: z.strictObject({ bot: z.strictObject({ user_id: int, full_name: str.optional() }) }),
  }),
  'realm_bot/delete': event('A bot is no longer visible to somebody.', {
    audience: 'users',
    body: z.strictObject({ bot: z.strictObject({ user_id: int }) }),
  }),
  presence: eventsOf('presence')('Somebody is active or idle.', {
    audience: 'either',
    body: z.strictObject({}),
    view: presence,
  }),
  user_status: event('The status of a person changed.', {
    audience: 'either',
    body: z
      .strictObject({
        user_id: int,
        away: bool.optional(),
        status_text: str.optional(),
        emoji_name: str.optional(),
        emoji_code: str.optional(),
        reaction_type: str.optional(),
      })
      .refine((status) => Object.keys(status).length > 1, 'something changed'),
  }),
  'user_group/add': event('A group is new, or back for clients that know no deactivated groups.', {
    audience: 'realm',
    body: z.strictObject({ group: userGroupSchema.strict() }),
    note: added,
  }),
  'user_group/update': event('A group changed.', {
    audience: 'realm',
    body: z.strictObject({ group_id: int, data: groupChange }),
    note: storedMention,
  }),
  'user_group/add_members': event('Users are direct members of a group.', {
    audience: 'either',
    body: members,
    note: added,
  }),
  'user_group/remove_members': event('Users are no longer direct members of a group.', {
    audience: 'either',
    body: members,
    note: removed,
  }),
  'user_group/add_subgroups': event('Groups are direct subgroups of a group.', {
    audience: 'realm',
    body: subgroups,
  }),
  'user_group/remove_subgroups': event('Groups are no longer direct subgroups of a group.', {
    audience: 'realm',
    body: subgroups,
  }),
  'user_group/remove': event('A group was deactivated; for clients that know no deactivated groups.', {
    audience: 'realm',
    body: z.strictObject({ group_id: int }),
  }),
  'user_settings/update': event('A setting of the receiver changed.', {
    audience: 'users',
    body: settingChanges(userSettingNames),
  }),
  update_display_settings: event('A display setting of the receiver changed; for clients without `user_settings`.', {
    audience: 'users',
    body: legacyChanges('display', 'setting_name'),
  }),
  update_global_notifications: event(
    'A notification setting of the receiver changed; for clients without `user_settings`.',
    { audience: 'users', body: legacyChanges('notifications', 'notification_name') },
  ),
};
