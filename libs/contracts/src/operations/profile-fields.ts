import { z } from 'zod';
import { anyJson, id, list, object, record, string, trimmed, union } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, distinctIds, idList, int, json, text } from '../model/param.ts';

export const profileFieldFetchTypes: readonly string[] = ['custom_profile_fields'];

export const profileFieldTypes = {
  SHORT_TEXT: { id: 1, name: 'Text (short)' },
  LONG_TEXT: { id: 2, name: 'Text (long)' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
} as const;

/** External accounts whose name, hint and URL pattern are built in. */
export const externalAccounts = {
  twitter: { name: 'Twitter username', text: 'Twitter', hint: '', url_pattern: 'https://twitter.com/%(username)s' },
  github: { name: 'GitHub username', text: 'GitHub', hint: '', url_pattern: 'https://github.com/%(username)s' },
} as const;

/** A custom profile field; `field_data` is JSON text, empty if there is none. */
export const profileFieldSchema = z.object({
  id: int.describe('The ID of the custom profile field.'),
  type: int.describe(
    'The type: 1 short text, 2 long text, 3 list of options, 4 date, 5 link, 6 users, 7 external account, 8 pronouns.',
  ),
  order: int.describe('The position of the field among the others.'),
  name: z.string().describe('The name of the field.'),
  hint: z.string(),
  field_data: z
    .string()
    .describe('JSON text with what the type of the field needs, such as the options of type 3; empty if nothing.'),
  display_in_profile_summary: bool,
  required: bool,
  editable_by_user: bool,
});
export type ProfileField = z.infer<typeof profileFieldSchema>;

/** Values of a user by the id of the field. */
export type ProfileData = Record<string, { value: string; rendered_value?: string }>;

/** A user's value of a field; null and the empty text remove it. */
export const profileEntrySchema = object({
  id: id.describe('The ID of the custom profile field.'),
  value: union([string(5_000), idList(1_000), z.null()]).describe(
    'The value: a text, or user IDs for fields of type 6. Null or the empty text removes the value.',
  ),
});
export type ProfileEntry = z.infer<typeof profileEntrySchema>;

const fieldData = json(
  record(anyJson({ characters: 3_000, depth: 2, parts: 20 }), { keys: 500, keyCharacters: 500 }).optional(),
);
const flags = {
  display_in_profile_summary: json(bool.optional()),
  required: json(bool.optional()),
  editable_by_user: json(bool.optional()),
};
/** All users receive each changed value. */
export const profileDataWeight = (entries: readonly unknown[] = []): number => entries.length / 2;
const label = text(trimmed(1_000).optional());
const fieldName = text(trimmed(1_000).describe('The name of the field, at most 40 characters.').optional());
const errors = ['BAD_REQUEST'] as const;
const events = ['custom_profile_fields', 'realm_user'] as const;

export const profileFieldOperations = {
  getProfileFields: operation({
    name: 'get-profile-fields',
    service: 'users',
    http: { method: 'GET', path: '/realm/profile_fields' },
    summary: 'Custom profile fields in their order.',
    result: z.object({ custom_fields: z.array(profileFieldSchema) }),
  }),
  createProfileField: operation({
    name: 'create-profile-field',
    service: 'users',
    http: { method: 'POST', path: '/realm/profile_fields' },
    role: 'administrator',
    weight: 3,
    summary: 'Create a custom profile field.',
    params: { name: fieldName, hint: label, field_type: json(id), field_data: fieldData, ...flags },
    result: z.object({ id: int.describe('The ID of the new field.') }),
    errors,
    events,
  }),
  reorderProfileFields: operation({
    name: 'reorder-profile-fields',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/profile_fields' },
    role: 'administrator',
    summary: 'Change the order of the custom profile fields.',
    params: {
      order: json(
        idList(1_000).describe('The IDs of all fields, in their new order. Of a repeated one the last place counts.'),
      ),
    },
    errors,
    events,
  }),
  updateProfileField: operation({
    name: 'update-profile-field',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/profile_fields/{field_id}' },
    role: 'administrator',
    weight: 3,
    summary: 'Change a custom profile field, but not its type.',
    params: { field_id: json(id), name: fieldName, hint: label, field_data: fieldData, ...flags },
    errors,
    events,
  }),
  removeProfileField: operation({
    name: 'remove-profile-field',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/profile_fields/{field_id}' },
    role: 'administrator',
    weight: 3,
    summary: 'Remove a custom profile field with all its values.',
    params: { field_id: json(id) },
    errors,
    events,
  }),
  updateOwnProfileData: operation({
    name: 'update-own-profile-data',
    service: 'users',
    http: { method: 'PATCH', path: '/users/me/profile_data' },
    caller: 'human',
    weight: 2,
    summary: "Change values of the caller's custom profile fields.",
    weigh: ({ data }) => profileDataWeight(data),
    params: { data: json(list(profileEntrySchema, 100).describe('The values to set.')) },
    errors,
    events,
  }),
  removeOwnProfileData: operation({
    name: 'remove-own-profile-data',
    service: 'users',
    http: { method: 'DELETE', path: '/users/me/profile_data' },
    caller: 'human',
    weight: 2,
    summary: "Take away values of the caller's custom profile fields.",
    weigh: ({ data }) => profileDataWeight(data),
    params: { data: json(distinctIds(100).describe('The IDs of the fields whose values are removed.')) },
    errors,
    events,
  }),
};
