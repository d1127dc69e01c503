import { z } from 'zod';
import { id, record, string, trimmed } from '../model/bounded.ts';
import { entriesOf, keysOf, recordOf } from '../model/keys.ts';
import { limits } from '../model/limits.ts';
import { operation } from '../model/operation.ts';
import { bool, described, int, json, type Param, text } from '../model/param.ts';
import {
  type GroupSettingUpdate,
  groupSettingUpdateSchema,
  ownersPermissions,
  type realmPermissions,
} from '../model/permission-settings.ts';
import { type RealmSetting, type RealmSettingName, realmSettings } from '../model/realm-settings.ts';
import { realmPermissionMeanings, realmSettingMeanings } from '../vocabulary/index.ts';
import { realmEmojiOperations } from './realm/emoji.ts';
import { linkifierOperations } from './realm/linkifiers.ts';
import { realmPictureOperations } from './realm/pictures.ts';

export { type RealmEmoji, realmEmojiSchema } from './realm/emoji.ts';
export { type Linkifier, linkifierSchema } from './realm/linkifiers.ts';

/** The fetch types of the realm. */
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

const owners = (isOwners: boolean): string => (isOwners ? ' Only owners change it.' : '');
const settingParams = Object.fromEntries(
  entriesOf<Record<RealmSettingName, RealmSetting>>(realmSettings).map(
    ([name, { param, default: initial, isOwners }]) => [
      name,
      described(param, `${realmSettingMeanings[name]} Initially \`${JSON.stringify(initial)}\`.${owners(isOwners)}`),
    ],
  ),
) as unknown as SettingParams;
const permissionParams: PermissionParams = recordOf(keysOf(realmPermissionMeanings), (name) =>
  json(
    groupSettingUpdateSchema
      .describe(`${realmPermissionMeanings[name]}${owners(ownersPermissions.has(name))}`)
      .optional(),
  ),
);

const mirrorParams = {
  mandatory_topics: json(
    z
      .boolean()
      .describe(
        'Deprecated: `true` sets `topics_policy` to `disable_empty_topic`, `false` to `allow_empty_topic`, if it says otherwise.',
      )
      .optional(),
  ),
  allow_edit_history: json(
    z
      .boolean()
      .describe(
        'Deprecated: `true` sets `message_edit_history_visibility_policy` to `all`, `false` to `none`, if it says otherwise.',
      )
      .optional(),
  ),
};

const codeTemplate = 'The address of the playground, as a URL template (RFC 6570) with the variable `code`.';

export const realmDomainSchema = z.object({ domain: z.string(), allow_subdomains: z.boolean() });
export const playgroundSchema = z.object({
  id: z.int().describe('The ID of the code playground.'),
  name: z.string().describe('The name of the code playground.'),
  pygments_language: z.string(),
  url_template: z.string().describe(codeTemplate),
});
export type Playground = z.infer<typeof playgroundSchema>;

const domain = text(trimmed(253).toLowerCase());
const errors = ['BAD_REQUEST'] as const;

export const realmOperations = {
  ...realmEmojiOperations,
  ...realmPictureOperations,
  ...linkifierOperations,
  updateRealm: operation({
    name: 'update-realm',
    service: 'users',
    http: { method: 'PATCH', path: '/realm' },
    role: 'administrator',
    weight: 3,
    // A limit of the users that guests see is tried first, which reads all subscriptions and direct conversations. Another
    // waiting period may move all members into the group of full members, or out of it.
    weigh: ({ can_access_all_users_group, waiting_period_threshold }) =>
      (can_access_all_users_group === undefined ? 0 : 20) + (waiting_period_threshold === undefined ? 0 : 50),
    summary: 'Change settings and permissions of the organization.',
    params: {
      ...settingParams,
      ...permissionParams,
      ...mirrorParams,
      authentication_methods: json(
        record(bool, { keys: 100, keyCharacters: 100 })
          .describe('How users log in: only `Email`, which cannot be disabled. Only owners change it.')
          .optional(),
      ),
    },
    result: z.looseObject({}),
    errors: ['BAD_REQUEST', 'EXPECTATION_MISMATCH', 'SYSTEM_GROUP_REQUIRED'],
    events: ['realm', 'user_group', 'realm_user', 'user_status'],
  }),
  deactivateRealm: operation({
    name: 'deactivate-realm',
    service: 'users',
    http: { method: 'POST', path: '/realm/deactivate' },
    role: 'owner',
    weight: 5,
    summary: 'End the organization: nobody can log in any more.',
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
    role: 'owner',
    summary: 'Allow addresses of a domain.',
    params: { domain, allow_subdomains: json(bool) },
    result: z.object({ new_domain: z.tuple([int, z.string()]) }),
    errors,
    events: ['realm_domains'],
  }),
  updateRealmDomain: operation({
    name: 'update-realm-domain',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/domains/{domain}' },
    role: 'owner',
    summary: 'Allow or end subdomains of an allowed domain.',
    params: { domain, allow_subdomains: json(bool) },
    errors,
    events: ['realm_domains'],
  }),
  removeRealmDomain: operation({
    name: 'remove-realm-domain',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/domains/{domain}' },
    role: 'owner',
    summary: 'No longer allow addresses of a domain.',
    params: { domain },
    errors,
    events: ['realm_domains', 'realm'],
  }),
  addPlayground: operation({
    name: 'add-playground',
    service: 'users',
    http: { method: 'POST', path: '/realm/playgrounds' },
    role: 'administrator',
    summary: 'Add a place where code of a language can be run.',
    params: {
      name: text(trimmed(limits.playgroundNameLength).describe('The name of the code playground.')),
      pygments_language: text(trimmed(1_000)),
      url_template: text(trimmed(1000).describe(codeTemplate)),
    },
    result: z.object({ id: int.describe('The ID of the new code playground.') }),
    errors,
    events: ['realm_playgrounds'],
  }),
  removePlayground: operation({
    name: 'remove-playground',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/playgrounds/{playground_id}' },
    role: 'administrator',
    summary: 'Remove a playground.',
    params: { playground_id: json(id) },
    errors,
    events: ['realm_playgrounds'],
  }),
  checkSubdomain: operation({
    name: 'check-subdomain',
    service: 'users',
    http: { method: 'GET', path: '/realm/subdomain/{subdomain}' },
    caller: 'public',
    summary: 'Whether an organization could be made at a subdomain. Only the operator makes them.',
    params: { subdomain: text(string(1_000)) },
    result: z.object({ msg: z.string().describe('`available`, or the reason why the subdomain cannot be used.') }),
  }),
  createBigBlueButtonCall: operation({
    name: 'create-bigbluebutton-call',
    service: 'users',
    http: { method: 'GET', path: '/calls/bigbluebutton/create' },
    summary: 'A call with BigBlueButton, which this server has no account with: always refused.',
    params: { meeting_name: text(string(1_000)), voice_only: json(bool.default(false)) },
    result: z.object({ url: z.string().describe('The address of the call.') }),
    errors,
  }),
  createZoomCall: operation({
    name: 'create-zoom-call',
    service: 'users',
    http: { method: 'POST', path: '/calls/zoom/create' },
    summary: 'A call with Zoom, which this server has no account with: always refused.',
    params: { is_video_call: json(bool.default(true)) },
    result: z.object({ url: z.string().describe('The address of the call.') }),
    errors,
  }),
};
