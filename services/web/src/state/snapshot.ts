import type { ChatEvent, State } from '@natter/client';

/** Values of settings and permissions of the organization, by name. */
export type RealmChanges = Extract<ChatEvent, { type: 'realm'; property: 'default' }>['data'];

export type RawPresences = Extract<ChatEvent, { type: 'presence'; presences: unknown }>['presences'];

type Fetched<K extends keyof State> = { [P in K]-?: Exclude<State[P], undefined> };
type RealmFields = { [P in keyof RealmChanges as `realm_${P}`]-?: Exclude<RealmChanges[P], undefined> };

/** Fields that `State` does not name. */
type OtherFields = Record<'realm_domains', Extract<ChatEvent, { type: 'realm_domains'; op: 'add' }>['realm_domain'][]> &
  Pick<Extract<ChatEvent, { type: 'realm_playgrounds' }>, 'realm_playgrounds'> &
  Pick<Extract<ChatEvent, { type: 'realm_emoji'; op: 'update' }>, 'realm_emoji'> &
  Pick<Extract<ChatEvent, { type: 'alert_words' }>, 'alert_words'> & {
    presences: RawPresences;
    user_settings: Readonly<Record<string, unknown>>;
    server_supported_permission_settings: Readonly<Record<PermissionLevel, Readonly<Record<string, PermissionRule>>>>;
    server_presence_ping_interval_seconds: number;
    server_presence_offline_threshold_seconds: number;
    max_message_length: number;
    max_topic_length: number;
    max_file_upload_size_mib: number;
    server_typing_started_wait_period_milliseconds: number;
    server_typing_stopped_wait_period_milliseconds: number;
    server_typing_started_expiry_period_milliseconds: number;
  };

/** Rules of the server for the groups that a permission may name. */
export interface PermissionRule {
  require_system_group: boolean;
  allow_nobody_group: boolean;
  allow_everyone_group: boolean;
  /** Empty: no restriction beyond the others. */
  allowed_system_groups: readonly string[];
}
export type PermissionLevel = 'realm' | 'stream' | 'group';

/** The answer to a register with `registerParams`. */
export type Snapshot = State &
  Fetched<'user_id' | 'realm_users' | 'realm_non_active_users' | 'cross_realm_bots' | 'realm_bots'> &
  Fetched<'realm_user_groups' | 'user_status' | 'muted_users' | 'presence_last_update_id'> &
  Fetched<'subscriptions' | 'realm_default_streams' | 'channel_folders' | 'user_topics' | 'unread_msgs'> &
  Fetched<'starred_messages' | 'recent_private_conversations' | 'drafts' | 'scheduled_messages' | 'reminders'> &
  RealmFields &
  OtherFields;
