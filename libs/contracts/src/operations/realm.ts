import { z } from 'zod';
import { base64, id, record, string, trimmed } from '../bounded.ts';
import { operation, pageSchema } from '../operation.ts';
import { bool, idList, int, json, type Param, text, textOrJson } from '../param.ts';
import { type GroupSettingUpdate, groupSettingUpdateSchema, realmPermissions } from '../permission-settings.ts';
import { type RealmSettingName, realmSettings } from '../realm-settings.ts';

/** The fetch types of a register that tell of the realm itself. */
export const realmFetchTypes: readonly string[] = [
  'realm',
  'realm_domains',
  'realm_emoji',
  'realm_linkifiers',
  'realm_filters',
  'realm_playgrounds',
  'realm_billing',
  'realm_embedded_bots',
  'realm_incoming_webhook_bots',
  'stop_words',
  'video_calls',
  'giphy',
];

type SettingParams = { [N in RealmSettingName]: (typeof realmSettings)[N]['param'] };
type PermissionParams = Record<keyof typeof realmPermissions, Param<z.ZodOptional<z.ZodType<GroupSettingUpdate>>>>;

const settingParams = Object.fromEntries(
  Object.entries(realmSettings).map(([name, { param }]) => [name, param]),
) as SettingParams;
const permissionParams = Object.fromEntries(
  Object.keys(realmPermissions).map((name) => [name, json(groupSettingUpdateSchema.optional())]),
) as unknown as PermissionParams;

export const realmDomainSchema = z.object({ domain: z.string(), allow_subdomains: z.boolean() });
export const realmEmojiSchema = z.object({
  id: z.string(),
  name: z.string(),
  source_url: z.string(),
  still_url: z.string().nullable(),
  deactivated: z.boolean(),
  author_id: z.int().nullable(),
});
export type RealmEmoji = z.infer<typeof realmEmojiSchema>;
export const linkifierSchema = z.object({ id: z.int(), pattern: z.string(), url_template: z.string() });
export type Linkifier = z.infer<typeof linkifierSchema>;
export const playgroundSchema = z.object({
  id: z.int(),
  name: z.string(),
  pygments_language: z.string(),
  url_template: z.string(),
});
export type Playground = z.infer<typeof playgroundSchema>;

const domain = text(trimmed(253).toLowerCase());
const linkifierParams = { pattern: text(trimmed(1000)), url_template: text(trimmed(1000)) };
/** An uploaded file, in base64; the gateway makes it of whatever part of a form holds a file. */
const file = text(base64(8 * 1024 * 1024));
const errors = ['BAD_REQUEST'] as const;

export const realmOperations = {
  updateRealm: operation({
    name: 'update-realm',
    service: 'users',
    http: { method: 'PATCH', path: '/realm' },
    cost: 3,
    summary: 'Change settings and permissions of the organization; administrators only.',
    params: {
      ...settingParams,
      ...permissionParams,
      authentication_methods: json(record(bool, { keys: 100, keyCharacters: 100 }).optional()),
    },
    result: z.looseObject({}),
    errors: ['BAD_REQUEST', 'EXPECTATION_MISMATCH', 'SYSTEM_GROUP_REQUIRED'],
    events: ['realm', 'user_group'],
  }),
  deactivateRealm: operation({
    name: 'deactivate-realm',
    service: 'users',
    http: { method: 'POST', path: '/realm/deactivate' },
    cost: 5,
    summary: 'End the organization: nobody can log in any more. Owners only.',
    errors,
    events: ['realm'],
  }),
  getRealmDomains: operation({
    name: 'get-realm-domains',
    service: 'users',
    http: { method: 'GET', path: '/realm/domains' },
    summary: 'Domains whose addresses may join, where they are restricted.',
    result: z.object({ domains: z.array(realmDomainSchema) }),
  }),
  addRealmDomain: operation({
    name: 'add-realm-domain',
    service: 'users',
    http: { method: 'POST', path: '/realm/domains' },
    summary: 'Allow addresses of a domain; owners only.',
    params: { domain, allow_subdomains: json(bool) },
    result: z.object({ new_domain: z.tuple([int, z.string()]) }),
    errors,
    events: ['realm_domains'],
  }),
  updateRealmDomain: operation({
    name: 'update-realm-domain',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/domains/{domain}' },
    summary: 'Allow or end subdomains of an allowed domain; owners only.',
    params: { domain, allow_subdomains: json(bool) },
    errors,
    events: ['realm_domains'],
  }),
  removeRealmDomain: operation({
    name: 'remove-realm-domain',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/domains/{domain}' },
    summary: 'No longer allow addresses of a domain; owners only.',
    params: { domain },
    errors,
    events: ['realm_domains', 'realm'],
  }),
  getRealmEmoji: operation({
    name: 'get-realm-emoji',
    service: 'users',
    http: { method: 'GET', path: '/realm/emoji' },
    summary: 'Custom emoji, deactivated ones too.',
    result: z.object({ emoji: z.record(z.string(), realmEmojiSchema) }),
  }),
  addRealmEmoji: operation({
    name: 'add-realm-emoji',
    service: 'users',
    http: { method: 'POST', path: '/realm/emoji/{emoji_name}' },
    summary: 'Upload a custom emoji.',
    cost: 5,
    params: { emoji_name: text(string(1_000)), file },
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm_emoji'],
  }),
  emojiPicture: operation({
    name: 'emoji-picture',
    service: 'users',
    page: { method: 'GET', path: '/user_avatars/emoji/{emoji_id}' },
    caller: 'anyone',
    summary: 'The picture of a custom emoji.',
    params: { emoji_id: json(id) },
    result: pageSchema,
    isReadOnly: true,
  }),
  getRealmIcon: operation({
    name: 'get-realm-icon',
    service: 'users',
    page: { method: 'GET', path: '/api/v1/realm/icon' },
    caller: 'anyone',
    summary: 'Leads to the icon of the organization.',
    result: pageSchema,
    isReadOnly: true,
  }),
  getRealmLogo: operation({
    name: 'get-realm-logo',
    service: 'users',
    page: { method: 'GET', path: '/api/v1/realm/logo' },
    caller: 'anyone',
    summary: 'Leads to the logo of the organization for the light or the dark theme.',
    params: { night: json(bool.default(false)) },
    result: pageSchema,
    isReadOnly: true,
  }),
  addRealmIcon: operation({
    name: 'add-realm-icon',
    service: 'users',
    http: { method: 'POST', path: '/realm/icon' },
    summary: 'Upload the icon of the organization; administrators only.',
    cost: 5,
    params: { file },
    result: z.object({ icon_url: z.string() }),
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm'],
  }),
  removeRealmIcon: operation({
    name: 'remove-realm-icon',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/icon' },
    summary: "Back to the server's icon; administrators only.",
    result: z.object({ icon_url: z.string() }),
    errors,
    events: ['realm'],
  }),
  addRealmLogo: operation({
    name: 'add-realm-logo',
    service: 'users',
    http: { method: 'POST', path: '/realm/logo' },
    summary: 'Upload the logo of the organization for the light or the dark theme; administrators only.',
    cost: 5,
    params: { night: json(bool), file },
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm'],
  }),
  removeRealmLogo: operation({
    name: 'remove-realm-logo',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/logo' },
    summary: "Back to the server's logo; administrators only.",
    params: { night: json(bool) },
    errors,
    events: ['realm'],
  }),
  realmPicture: operation({
    name: 'realm-picture',
    service: 'users',
    page: { method: 'GET', path: '/user_avatars/realm/{kind}' },
    caller: 'anyone',
    summary: 'The icon or a logo of the organization.',
    params: { kind: textOrJson(z.enum(['icon', 'logo', 'night_logo'])) },
    result: pageSchema,
    isReadOnly: true,
  }),
  removeRealmEmoji: operation({
    name: 'remove-realm-emoji',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/emoji/{emoji_name}' },
    summary: 'Deactivate a custom emoji.',
    params: { emoji_name: text(string(1_000)) },
    errors,
    events: ['realm_emoji'],
  }),
  getLinkifiers: operation({
    name: 'get-linkifiers',
    service: 'users',
    http: { method: 'GET', path: '/realm/linkifiers' },
    summary: 'Patterns that become links, in the order in which they are applied.',
    result: z.object({ linkifiers: z.array(linkifierSchema) }),
  }),
  reorderLinkifiers: operation({
    name: 'reorder-linkifiers',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/linkifiers' },
    summary: 'Change the order of the linkifiers; administrators only.',
    params: { ordered_linkifier_ids: json(idList(1_000)) },
    errors,
    events: ['realm_linkifiers'],
  }),
  getFilters: operation({
    name: 'get-filters',
    service: 'users',
    http: { method: 'GET', path: '/realm/filters' },
    summary: 'The oldest form of linkifiers, always empty.',
    result: z.object({ filters: z.array(z.tuple([z.string(), z.string(), int])) }),
  }),
  addLinkifier: operation({
    name: 'add-linkifier',
    service: 'users',
    http: { method: 'POST', path: '/realm/filters' },
    summary: 'Add a linkifier; administrators only.',
    cost: 3,
    params: linkifierParams,
    result: z.object({ id: int }),
    errors,
    events: ['realm_linkifiers'],
  }),
  updateLinkifier: operation({
    name: 'update-linkifier',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/filters/{filter_id}' },
    summary: 'Change a linkifier; administrators only.',
    cost: 3,
    params: { filter_id: json(id), ...linkifierParams },
    errors,
    events: ['realm_linkifiers'],
  }),
  removeLinkifier: operation({
    name: 'remove-linkifier',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/filters/{filter_id}' },
    summary: 'Remove a linkifier; administrators only.',
    params: { filter_id: json(id) },
    errors,
    events: ['realm_linkifiers'],
  }),
  addPlayground: operation({
    name: 'add-playground',
    service: 'users',
    http: { method: 'POST', path: '/realm/playgrounds' },
    summary: 'Add a place where code of a language can be run; administrators only.',
    params: {
      name: text(trimmed(1_000)),
      pygments_language: text(trimmed(1_000)),
      url_template: text(trimmed(1000)),
    },
    result: z.object({ id: int }),
    errors,
    events: ['realm_playgrounds'],
  }),
  removePlayground: operation({
    name: 'remove-playground',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/playgrounds/{playground_id}' },
    summary: 'Remove a playground; administrators only.',
    params: { playground_id: json(id) },
    errors,
    events: ['realm_playgrounds'],
  }),
  checkSubdomain: operation({
    name: 'check-subdomain',
    service: 'users',
    http: { method: 'GET', path: '/realm/subdomain/{subdomain}' },
    caller: 'anyone',
    summary: 'Whether an organization could be made at a subdomain. Only the operator makes them.',
    params: { subdomain: text(string(1_000)) },
    result: z.object({ msg: z.string() }),
  }),
  createBigBlueButtonCall: operation({
    name: 'create-bigbluebutton-call',
    service: 'users',
    http: { method: 'GET', path: '/calls/bigbluebutton/create' },
    summary: 'A call with BigBlueButton, which this server has no account with: always refused.',
    params: { meeting_name: text(string(1_000)), voice_only: json(bool.default(false)) },
    result: z.object({ url: z.string() }),
    errors,
  }),
  createZoomCall: operation({
    name: 'create-zoom-call',
    service: 'users',
    http: { method: 'POST', path: '/calls/zoom/create' },
    summary: 'A call with Zoom, which this server has no account with: always refused.',
    params: { is_video_call: json(bool.default(true)) },
    result: z.object({ url: z.string() }),
    errors,
  }),
  emojiData: operation({
    name: 'emoji-data',
    service: 'users',
    page: { method: 'GET', path: '/static/emoji_data.json' },
    caller: 'anyone',
    summary: 'Names of every Unicode emoji by its code.',
    result: pageSchema,
  }),
  defaultPicture: operation({
    name: 'default-picture',
    service: 'users',
    page: { method: 'GET', path: '/static/natter-{kind}.svg' },
    caller: 'anyone',
    summary: 'The picture of an organization that has none of its own.',
    params: { kind: textOrJson(z.enum(['icon', 'logo'])) },
    result: pageSchema,
  }),
};
