import type { BusUser, ServiceName } from '../operation.ts';
import type { eventSchemas } from './index.ts';

/** Services with a schema of their own, which append to the log. */
export const appenders = ['users', 'channels', 'messaging', 'presence', 'event-queue'] as const satisfies ServiceName[];
export type Appender = (typeof appenders)[number];

type TypeOf<Name> = Name extends `${infer Type}/${string}` ? Type : Name;
/** Types that no client sees, beside those of the catalogue. A heartbeat is the gateway's and never in the log. */
type Internal =
  | 'tick'
  | 'credentials_changed'
  | 'acquainted'
  | 'attachments_referenced'
  | 'channel_begins'
  | 'mutes_ended';
export type EventType = Exclude<TypeOf<keyof typeof eventSchemas>, 'heartbeat'> | Internal;

interface Declared {
  /** The only service that may append it; `every`: each of them. */
  owner: Appender | 'every';
  /** Services whose consumers act on it: no other reads it from the record. */
  readBy: readonly Appender[];
}

const owned = (owner: Declared['owner'], ...readBy: Appender[]): Declared => ({ owner, readBy });

/**
 * Who appends each type of event, and who reads it. `log.append` refuses other appenders, `log.read_types` other readers, NATS
 * other publishers and subscribers, and gateways believe only the owner's signature. Migrations repeat it as `log.writer`.
 */
export const eventTypes: Record<EventType, Declared> = {
  tick: owned('every'),

  realm: owned('users', 'messaging', 'presence'),
  realm_user: owned('users', 'channels', 'messaging', 'presence', 'event-queue'),
  realm_bot: owned('users'),
  credentials_changed: owned('users'),
  user_group: owned('users', 'channels', 'messaging'),
  user_settings: owned('users', 'channels', 'messaging', 'presence'),
  realm_user_settings_defaults: owned('users', 'channels'),
  muted_users: owned('users', 'messaging'),
  alert_words: owned('users', 'messaging'),
  realm_linkifiers: owned('users', 'messaging'),
  realm_emoji: owned('users', 'messaging'),
  update_display_settings: owned('users'),
  update_global_notifications: owned('users'),
  user_status: owned('users'),
  realm_domains: owned('users'),
  realm_filters: owned('users'),
  realm_playgrounds: owned('users'),
  realm_billing: owned('users'),
  realm_export: owned('users'),
  realm_export_consent: owned('users'),
  custom_profile_fields: owned('users'),
  invites_changed: owned('users'),
  has_zoom_token: owned('users'),
  push_device: owned('users'),
  device: owned('users'),
  saved_snippets: owned('users'),
  navigation_view: owned('users'),
  onboarding_steps: owned('users'),
  restart: owned('users'),
  web_reload_client: owned('users'),

  stream: owned('channels', 'users', 'messaging'),
  subscription: owned('channels', 'messaging', 'users'),
  default_streams: owned('channels'),
  default_stream_groups: owned('channels'),
  channel_folder: owned('channels'),

  message: owned('messaging', 'channels'),
  update_message: owned('messaging', 'channels'),
  channel_begins: owned('messaging', 'channels'),
  acquainted: owned('messaging', 'users'),
  mutes_ended: owned('messaging', 'messaging'),
  attachments_referenced: owned('messaging', 'messaging'),
  delete_message: owned('messaging'),
  update_message_flags: owned('messaging'),
  reaction: owned('messaging'),
  submessage: owned('messaging'),
  typing: owned('messaging'),
  typing_edit_message: owned('messaging'),
  user_topic: owned('messaging'),
  muted_topics: owned('messaging'),
  attachment: owned('messaging'),
  drafts: owned('messaging'),
  scheduled_messages: owned('messaging'),
  reminders: owned('messaging'),

  presence: owned('presence'),
};

const named = Object.entries(eventTypes) as [EventType, Declared][];
const owners = new Map<string, Declared['owner']>(named.map(([type, { owner }]) => [type, owner]));

/** Whether the service may append events of this type; no service may append a type that is not declared. */
export const ownsEvent = (service: string, type: string): boolean => {
  const owner = owners.get(type);
  return owner === service || owner === 'every';
};

export const eventTypesOf = (service: Appender): EventType[] =>
  named.filter(([type]) => ownsEvent(service, type)).map(([type]) => type);
const readByAny = new Set<string>(named.filter(([, { readBy }]) => readBy.length > 0).map(([type]) => type));

/** Whether some consumer acts on events of this type. */
export const isRead = (type: string): boolean => readByAny.has(type);

export const eventTypesReadBy = (service: Appender): EventType[] =>
  named.filter(([, { readBy }]) => readBy.includes(service)).map(([type]) => type);

/** Which keys of `log.version` a service bumps: whole keys, or what stands before the colon. */
export const versionKeysOf: Record<Appender, readonly string[]> = {
  users: ['actor', 'groups', 'group-contents', 'realm'],
  channels: ['channel', 'group-uses'],
  messaging: [],
  presence: [],
  'event-queue': [],
};

/** The service whose tables and events a process works with: the scheduler is a part of messaging. */
export const appenderOf = (user: BusUser): Appender | undefined =>
  user === 'scheduler' ? 'messaging' : appenders.find((name) => name === user);

/** The service of a schema in Postgres, whose name has no hyphen. */
export function appenderOfSchema(schema: string): Appender {
  const found = appenders.find((name) => schemaOf(name) === schema);
  if (!found) throw new Error(`No service has the schema ${schema}`);
  return found;
}
export const schemaOf = (service: Appender): string => service.replace('-', '_');
