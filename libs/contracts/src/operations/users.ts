import { z } from 'zod';
import { id, list, object, string, trimmed } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, idList, json, text } from '../model/param.ts';
import { realmPolicySchema, realmUrlSchema } from '../model/realm-policy.ts';
import { botFetchTypes, roleWeight } from './bots.ts';
import { collectionFetchTypes } from './collections.ts';
import { credentialOperations } from './credentials.ts';
import { emailAddress } from './email-address.ts';
import { groupFetchTypes } from './groups.ts';
import { profileDataWeight, profileEntrySchema, profileFieldFetchTypes } from './profile-fields.ts';
import { realmFetchTypes } from './realm.ts';
import { serverSettings } from './server-settings.ts';
import { sessionOperations } from './sessions.ts';
import { settingsFetchTypes } from './settings.ts';
import { socialFetchTypes } from './social.ts';

/** The fetch types of a register that this service answers. */
export const usersFetchTypes: readonly string[] = [
  'realm_user',
  ...realmFetchTypes,
  ...groupFetchTypes,
  ...profileFieldFetchTypes,
  ...collectionFetchTypes,
  ...settingsFetchTypes,
  ...botFetchTypes,
  ...socialFetchTypes,
];

/**
 * A user or bot as the caller sees it. `email` is the address that the caller sees, `delivery_email` the real address if the
 * caller may see it.
 */
export const userSchema = z.object({
  user_id: z.int(),
  delivery_email: z.string().nullable(),
  email: z.string(),
  full_name: z.string(),
  date_joined: z.string(),
  is_active: z.boolean(),
  is_owner: z.boolean(),
  is_admin: z.boolean(),
  is_guest: z.boolean(),
  is_bot: z.boolean(),
  bot_type: z.int().nullable(),
  bot_owner_id: z.int().nullable().optional(),
  role: z.int(),
  timezone: z.string().describe('The IANA name of the time zone in the profile; empty for none.'),
  avatar_url: z.string().nullable(),
  avatar_version: z.int(),
  profile_data: z
    .record(
      z.string(),
      z.object({ value: z.string().describe('The value of the field.'), rendered_value: z.string().optional() }),
    )
    .optional(),
  is_system_bot: z.boolean().optional(),
});
export type User = z.infer<typeof userSchema>;

export const userOperations = {
  ...credentialOperations,
  ...sessionOperations,
  getServerSettings: operation({
    name: 'get-server-settings',
    service: 'users',
    http: { method: 'GET', path: '/server_settings' },
    caller: 'public',
    summary: 'What a client must know before it logs in.',
    result: z.object(serverSettings),
  }),
  createUser: operation({
    name: 'create-user',
    service: 'users',
    http: { method: 'POST', path: '/users' },
    role: 'administrator',
    summary: 'Create a user.',
    weight: 3,
    params: {
      email: text(emailAddress.describe('The real email address of the user.')),
      password: text(string(1_000)),
      full_name: text(string(1_000)),
    },
    result: z.object({ user_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'user_group', 'user_status', 'invites_changed'],
  }),
  getUsers: operation({
    name: 'get-users',
    service: 'users',
    http: { method: 'GET', path: '/users' },
    caller: 'spectator',
    summary: 'All users of the organization that the caller may know, without the bots of the server.',
    weight: 3,
    params: {
      client_gravatar: json(bool.default(true)),
      include_custom_profile_fields: json(bool.default(false)),
      user_ids: json(idList(20_000).describe('The IDs of the users to return. By default all.').optional()),
    },
    result: z.object({ members: z.array(userSchema).describe('The users.') }),
  }),
  getOwnUser: operation({
    name: 'get-own-user',
    service: 'users',
    http: { method: 'GET', path: '/users/me' },
    summary: "The caller's own record.",
    result: userSchema.extend({ max_message_id: z.int() }),
  }),
  getUser: operation({
    name: 'get-user',
    service: 'users',
    http: { method: 'GET', path: '/users/{user_id_or_email}' },
    summary: 'One user, by ID or by address.',
    params: {
      user_id_or_email: text(string(1_000)),
      client_gravatar: json(bool.default(true)),
      include_custom_profile_fields: json(bool.default(false)),
    },
    result: z.object({ user: userSchema.describe('The user.') }),
    errors: ['BAD_REQUEST'],
  }),
  updateUser: operation({
    name: 'update-user',
    service: 'users',
    http: { method: 'PATCH', path: '/users/{user_id_or_email}' },
    role: 'administrator',
    summary: "Change a user's name, role, profile or address, by ID or by address.",
    weight: 2,
    weigh: ({ profile_data, role }) => profileDataWeight(profile_data) + roleWeight(role),
    params: {
      user_id_or_email: text(string(1_000)),
      full_name: text(string(1_000).optional()),
      role: json(id.optional()),
      profile_data: json(list(profileEntrySchema, 100).optional()),
      new_email: text(trimmed(1_000).optional()),
      can_create_users: json(bool.optional()),
      can_forge_sender: json(bool.optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status', 'invites_changed'],
  }),
  deactivateUser: operation({
    name: 'deactivate-user',
    service: 'users',
    http: { method: 'DELETE', path: '/users/{user_id}' },
    role: 'administrator',
    summary: 'Deactivate a user; the keys end at once.',
    weight: 5,
    params: { user_id: json(id), deactivation_notification_comment: text(string(2000).optional()) },
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status', 'invites_changed', 'realm'],
  }),
  deactivateSelf: operation({
    name: 'deactivate-self',
    service: 'users',
    http: { method: 'DELETE', path: '/users/me' },
    caller: 'human',
    summary: "Deactivate the caller's own account.",
    weight: 5,
    errors: ['CANNOT_DEACTIVATE_LAST_USER', 'BAD_REQUEST'],
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status', 'invites_changed', 'realm'],
  }),
  reactivateUser: operation({
    name: 'reactivate-user',
    service: 'users',
    http: { method: 'POST', path: '/users/{user_id}/reactivate' },
    role: 'administrator',
    summary: 'Reactivate a user.',
    weight: 5,
    params: { user_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status', 'alert_words', 'realm'],
  }),
  createRealm: operation({
    name: 'create-realm',
    service: 'users',
    caller: 'operator',
    summary: 'Create a realm with its system groups and bots, or find it by its host. Bus only.',
    params: {
      host: text(string(1_000)),
      realm_name: text(string(1_000)),
      is_default: json(bool),
      /** Origin of links to the realm; by default https and the host. */
      realm_url: text(realmUrlSchema.optional()),
      /** The first owner, created in the same transaction, and the names of the default channels that the owner creates. */
      owner: json(
        object({
          email: emailAddress,
          full_name: string(1_000),
          password: string(1_000),
          first_channels: list(string(300), 100).optional(),
        }).optional(),
      ),
    },
    /**
     * `owner` is absent if the realm existed, if none was given, and in answers of the previous release. `existing`
     * describes a realm that existed.
     */
    result: z.object({
      realm_id: z.int(),
      is_new: z.boolean(),
      existing: z.object({ realm_name: z.string(), has_owner: z.boolean() }).optional(),
      owner: z.object({ user_id: z.int(), api_key: z.string() }).optional(),
    }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'user_group', 'user_status'],
  }),
  setRealmActive: operation({
    name: 'set-realm-active',
    service: 'users',
    caller: 'operator',
    summary: 'Deactivate or reactivate a realm, for commands of the operator. Bus only.',
    params: { is_active: json(bool) },
    events: ['realm'],
  }),
  setRealmUrl: operation({
    name: 'set-realm-url',
    service: 'users',
    caller: 'operator',
    summary: 'Set the origin of links to the realm. Bus only.',
    params: { realm_url: text(realmUrlSchema) },
  }),
  addPerson: operation({
    name: 'add-person',
    service: 'users',
    caller: 'operator',
    summary: 'Create an account of any role, for commands of the operator. Bus only.',
    params: {
      email: text(emailAddress),
      full_name: text(string(1_000)),
      /** Without one the user cannot log in with a password, but can use the API key. */
      password: text(string(1_000).optional()),
      role: json(id),
      can_create_users: json(bool.default(false)),
      can_change_user_emails: json(bool.default(false)),
    },
    result: z.object({ user_id: z.int(), api_key: z.string() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'user_group', 'user_status', 'invites_changed'],
  }),
  setUserRole: operation({
    name: 'set-user-role',
    service: 'users',
    caller: 'operator',
    summary: 'Change the role of a user, for commands of the operator. Bus only.',
    params: { email: text(emailAddress), role: json(id) },
    result: z.object({ user_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'realm_bot', 'user_group', 'user_status'],
  }),
  grantRights: operation({
    name: 'grant-rights',
    service: 'users',
    caller: 'operator',
    summary: 'Grant or take rights of a user beside the role, for commands of the operator. Bus only.',
    params: {
      email: text(emailAddress),
      can_create_users: json(bool.optional()),
      can_change_user_emails: json(bool.optional()),
      can_forge_sender: json(bool.optional()),
    },
    result: z.object({ user_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_bot'],
  }),
  getRealmPolicy: operation({
    name: 'get-realm-policy',
    service: 'users',
    caller: 'internal',
    callers: ['gateway', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'],
    summary: 'What other services decide by of a realm, with its version. Bus only.',
    result: realmPolicySchema,
    isReadOnly: true,
  }),
  findRealm: operation({
    name: 'find-realm',
    service: 'users',
    caller: 'internal',
    callers: ['gateway', 'operator'],
    summary: 'The realm a host belongs to. Bus only.',
    params: { host: text(string(1_000)) },
    /**
     * `realm_url`: the origin of links to the realm. `host`: the host of the realm. It differs from the given host if no realm
     * has that one: then the result is the default realm.
     */
    result: z.object({ realm_id: z.int(), realm_url: z.string(), host: z.string().optional() }),
    errors: ['NONEXISTENT_SUBDOMAIN'],
    isReadOnly: true,
  }),
};
