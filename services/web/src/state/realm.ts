import type { ChatEvent } from '@natter/client';
import type { PermissionLevel, PermissionRule, RealmChanges, Snapshot } from './snapshot.ts';
import type { GroupSetting } from './writing-snapshot.ts';

export type SettingValue = boolean | number | string | null;

/** The settings of the organization that a page shows. */
export interface Realm {
  permissions: Readonly<Record<string, GroupSetting>>;
  settings: Readonly<Record<string, SettingValue>>;
  permissionRules: Readonly<Record<PermissionLevel, Readonly<Record<string, PermissionRule>>>>;
}

const settingNames = [
  'description',
  'emails_restricted_to_domains',
  'invite_required',
  'invite_links_verify_email',
  'require_unique_names',
  'waiting_period_threshold',
  'name_changes_disabled',
  'email_changes_disabled',
  'avatar_changes_disabled',
  'send_welcome_emails',
  'default_language',
  'topics_policy',
  'allow_message_editing',
  'message_content_edit_limit_seconds',
  'message_content_delete_limit_seconds',
  'move_messages_within_stream_limit_seconds',
  'move_messages_between_streams_limit_seconds',
  'message_edit_history_visibility_policy',
  'inline_image_preview',
  'inline_url_embed_preview',
  'enable_read_receipts',
  'presence_disabled',
  'message_content_allowed_in_email_notifications',
  'digest_emails_enabled',
  'send_channel_events_messages',
] as const;

const isGroupSetting = (value: unknown): value is GroupSetting =>
  typeof value === 'number' || (typeof value === 'object' && value !== null && 'direct_members' in value);

const permissionName = /^realm_(.+_groups?)$/;

export function realmOf(raw: Snapshot): Realm {
  const permissions: Record<string, GroupSetting> = {};
  for (const [key, value] of Object.entries<unknown>(raw)) {
    const name = permissionName.exec(key)?.[1];
    if (name !== undefined && isGroupSetting(value)) permissions[name] = value;
  }
  return {
    permissions,
    settings: Object.fromEntries(settingNames.map((name) => [name, raw[`realm_${name}` as const] ?? null])),
    permissionRules: raw.server_supported_permission_settings,
  };
}

/** The new values in an event about the organization, by name. */
// The compiler does not infer that a property and its value form one member of the type.
export function realmChanges(event: Extract<ChatEvent, { type: 'realm' }>): RealmChanges;
export function realmChanges(event: Extract<ChatEvent, { type: 'realm' }>): object {
  if (event.op === 'deactivated') return {};
  return event.op === 'update' ? { [event.property]: event.value } : event.data;
}

/** Whether people may see who has read a message. */
export const hasReadReceipts = ({ realm }: { realm: Realm }): boolean => realm.settings.enable_read_receipts === true;

export function applyToRealm(realm: Realm, event: ChatEvent): Realm {
  if (event.type !== 'realm') return realm;
  const changed = Object.entries<unknown>(realmChanges(event));
  const known = <T>(before: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(changed.filter((entry): entry is [string, T] => Object.hasOwn(before, entry[0])));
  return {
    ...realm,
    permissions: { ...realm.permissions, ...known(realm.permissions) },
    settings: { ...realm.settings, ...known(realm.settings) },
  };
}
