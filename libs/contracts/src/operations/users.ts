import { z } from 'zod';
import { actorSchema } from '../actor.ts';
import { operation } from '../operation.ts';
import { bool, ids, json, text } from '../param.ts';
import { realmPolicySchema } from '../realm-policy.ts';
import { collectionFetchTypes } from './collections.ts';
import { groupFetchTypes } from './groups.ts';
import { profileEntrySchema, profileFieldFetchTypes } from './profile-fields.ts';
import { realmFetchTypes } from './realm.ts';

/** The fetch types of a register that this service answers. */
export const usersFetchTypes: readonly string[] = [
  'realm_user',
  ...realmFetchTypes,
  ...groupFetchTypes,
  ...profileFieldFetchTypes,
  ...collectionFetchTypes,
];

/** Specification 2.4. */
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
  timezone: z.string(),
  avatar_url: z.string().nullable(),
  avatar_version: z.int(),
  profile_data: z.record(z.string(), z.object({ value: z.string(), rendered_value: z.string().optional() })).optional(),
  is_system_bot: z.boolean().optional(),
});
export type User = z.infer<typeof userSchema>;

const email = z.string().trim().min(1).max(254);

export const userOperations = {
  getServerSettings: operation({
    name: 'get-server-settings',
    service: 'users',
    http: { method: 'GET', path: '/server_settings' },
    caller: 'anyone',
    summary: 'What a client must know before it logs in.',
    isCrossOrigin: true,
    result: z.looseObject({ realm_name: z.string() }),
  }),
  fetchApiKey: operation({
    name: 'fetch-api-key',
    service: 'users',
    http: { method: 'POST', path: '/fetch_api_key' },
    caller: 'anyone',
    summary: 'Exchange a password for an API key.',
    isCrossOrigin: true,
    guessedFor: 'username',
    params: { username: text(z.string()), password: text(z.string()) },
    result: z.object({ api_key: z.string(), email: z.string(), user_id: z.int() }),
    errors: ['AUTHENTICATION_FAILED', 'USER_DEACTIVATED', 'REALM_DEACTIVATED'],
  }),
  createUser: operation({
    name: 'create-user',
    service: 'users',
    http: { method: 'POST', path: '/users' },
    summary: 'Create a user (specification 4.14).',
    params: { email: text(email), password: text(z.string()), full_name: text(z.string()) },
    result: z.object({ user_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'user_group'],
  }),
  getUsers: operation({
    name: 'get-users',
    service: 'users',
    http: { method: 'GET', path: '/users' },
    summary: 'All users the caller may know (specification 4.22).',
    params: {
      client_gravatar: json(bool.default(true)),
      include_custom_profile_fields: json(bool.default(false)),
      user_ids: json(ids.optional()),
    },
    result: z.object({ members: z.array(userSchema) }),
  }),
  getOwnUser: operation({
    name: 'get-own-user',
    service: 'users',
    http: { method: 'GET', path: '/users/me' },
    summary: "The caller's own record.",
    result: userSchema.extend({ max_message_id: z.int() }),
  }),
  updateUser: operation({
    name: 'update-user',
    service: 'users',
    http: { method: 'PATCH', path: '/users/{user_id}' },
    summary: "Change a user's name or role.",
    params: {
      user_id: json(z.int()),
      full_name: text(z.string().optional()),
      role: json(z.int().optional()),
      profile_data: json(z.array(profileEntrySchema).optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['realm_user', 'user_group'],
  }),
  deactivateUser: operation({
    name: 'deactivate-user',
    service: 'users',
    http: { method: 'DELETE', path: '/users/{user_id}' },
    summary: 'Deactivate a user; the keys end at once.',
    params: { user_id: json(z.int()) },
    errors: ['BAD_REQUEST'],
    events: ['realm_user'],
  }),
  regenerateApiKey: operation({
    name: 'regenerate-api-key',
    service: 'users',
    http: { method: 'POST', path: '/users/me/api_key/regenerate' },
    summary: 'End all API keys of the caller and make a new one.',
    result: z.object({ api_key: z.string() }),
  }),
  authenticate: operation({
    name: 'authenticate',
    service: 'users',
    caller: 'anyone',
    summary: 'Who an email and an API key belong to. Bus only.',
    params: { email: text(z.string()), api_key: text(z.string()) },
    result: actorSchema,
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  refreshActor: operation({
    name: 'refresh-actor',
    service: 'users',
    caller: 'anyone',
    summary: 'The actor of a user as it is now. Bus only.',
    params: { user_id: json(z.int()), key_id: text(z.string()) },
    result: actorSchema,
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  describeActor: operation({
    name: 'describe-actor',
    service: 'users',
    caller: 'anyone',
    summary: 'The actor that a user is, for what is done later in their name (no key was shown). Bus only.',
    params: { user_id: json(z.int()) },
    result: actorSchema,
    errors: ['BAD_REQUEST', 'USER_DEACTIVATED'],
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  createRealm: operation({
    name: 'create-realm',
    service: 'users',
    caller: 'operator',
    summary: 'Create a realm with its system groups and bots, or find it by its host. Bus only.',
    params: { host: text(z.string()), realm_name: text(z.string()), is_default: json(bool) },
    result: z.object({ realm_id: z.int(), is_new: z.boolean() }),
  }),
  addPerson: operation({
    name: 'add-person',
    service: 'users',
    caller: 'operator',
    summary: 'Create an account of any role, for commands of the operator. Bus only.',
    params: {
      email: text(email),
      full_name: text(z.string()),
      /** Without one nobody can log in with a password; the API key works. */
      password: text(z.string().optional()),
      role: json(z.int()),
      can_create_users: json(bool.default(false)),
      can_change_user_emails: json(bool.default(false)),
    },
    result: z.object({ user_id: z.int(), api_key: z.string() }),
    errors: ['BAD_REQUEST'],
    events: ['realm_user'],
  }),
  issueApiKey: operation({
    name: 'issue-api-key',
    service: 'users',
    caller: 'operator',
    summary: 'One more API key for a user, for commands of the operator. Bus only.',
    params: { email: text(email) },
    result: z.object({ api_key: z.string() }),
    errors: ['BAD_REQUEST'],
  }),
  revokeApiKeys: operation({
    name: 'revoke-api-keys',
    service: 'users',
    caller: 'operator',
    summary: 'End all API keys of a user, for commands of the operator. Bus only.',
    params: { email: text(email) },
    result: z.object({ revoked: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['credentials_changed'],
  }),
  getRealmPolicy: operation({
    name: 'get-realm-policy',
    service: 'users',
    caller: 'anyone',
    summary: 'What other services decide by of a realm, with its version. Bus only.',
    result: realmPolicySchema,
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  findRealm: operation({
    name: 'find-realm',
    service: 'users',
    caller: 'anyone',
    summary: 'The realm a host belongs to. Bus only.',
    params: { host: text(z.string()) },
    result: z.object({ realm_id: z.int() }),
    errors: ['NONEXISTENT_SUBDOMAIN'],
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
};
