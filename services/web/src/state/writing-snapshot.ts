import { directPlace, type Place, topicPlace } from './place.ts';
import type { Snapshot } from './snapshot.ts';

export interface Group {
  id: number;
  name: string;
  description: string;
  members: ReadonlySet<number>;
  subgroups: readonly number[];
  isSystem: boolean;
  /** Permissions to change, join and leave the group, by name. */
  permissions: Readonly<Record<string, GroupSetting>>;
}

/** A text on the server that is not sent. */
export interface Draft {
  id: number;
  /** Absent while its writer has not chosen where to send it. */
  place: Place | undefined;
  content: string;
  timestamp: number;
}

export interface Scheduled {
  id: number;
  place: Place;
  content: string;
  /** The time at which it is sent, in seconds since 1970. */
  due: number;
  hasFailed: boolean;
}

export interface Reminder {
  id: number;
  messageId: number;
  content: string;
  due: number;
}

export const groupPermissions = [
  ...(['can_manage_group', 'can_add_members_group', 'can_remove_members_group'] as const),
  ...(['can_join_group', 'can_leave_group', 'can_mention_group'] as const),
] as const;

export type GroupSetting = RawGroup['can_manage_group'];
type Settings = Readonly<Record<string, unknown>>;
export type TopicsPolicy = RawChannel['topics_policy'];

/** The part of the model that is needed to write. */
export interface Writing {
  ownId: number;
  groups: ReadonlyMap<number, Group>;
  drafts: ReadonlyMap<number, Draft>;
  /** Texts of drafts that this page sent and whose events have not arrived, the oldest first. */
  echoes: ReadonlyMap<number, readonly string[]>;
  scheduled: ReadonlyMap<number, Scheduled>;
  reminders: ReadonlyMap<number, Reminder>;
  /** The settings of the person. */
  settings: Settings;
  topicsPolicy: TopicsPolicy;
  /** The policies of subscribed channels, by channel. */
  topicsPolicies: ReadonlyMap<number, TopicsPolicy>;
  limits: Limits;
}

interface Limits {
  message: number;
  topic: number;
  fileMebibytes: number;
  typingStartedWaitMs: number;
  typingStoppedWaitMs: number;
  typingExpiryMs: number;
}

/** The types of events, and of parts of the register's answer, that belong to writing. */
export const writingTypes = [...['drafts', 'scheduled_messages', 'reminders', 'user_group', 'user_settings'], 'typing'];

type RawDraft = Snapshot['drafts'][number];
type RawScheduled = Snapshot['scheduled_messages'][number];
type RawReminder = Snapshot['reminders'][number];
type RawGroup = Snapshot['realm_user_groups'][number];
type RawChannel = Pick<Snapshot['subscriptions'][number], 'stream_id' | 'topics_policy'>;

const byId = <T extends { id: number }>(all: readonly T[]): ReadonlyMap<number, T> =>
  new Map(all.map((one) => [one.id, one]));

export function writingOf(raw: Snapshot): Writing {
  const ownId = raw.user_id;
  return {
    ownId,
    groups: byId(raw.realm_user_groups.map(groupOf)),
    drafts: byId(raw.drafts.map((one) => draftOf(one, ownId))),
    echoes: new Map(),
    scheduled: byId(raw.scheduled_messages.map((one) => scheduledOf(one, ownId))),
    reminders: byId(raw.reminders.map(reminderOf)),
    settings: raw.user_settings,
    topicsPolicy: raw.realm_topics_policy,
    topicsPolicies: policiesOf(raw.subscriptions),
    limits: {
      message: raw.max_message_length,
      topic: raw.max_topic_length,
      fileMebibytes: raw.max_file_upload_size_mib,
      typingStartedWaitMs: raw.server_typing_started_wait_period_milliseconds,
      typingStoppedWaitMs: raw.server_typing_stopped_wait_period_milliseconds,
      typingExpiryMs: raw.server_typing_started_expiry_period_milliseconds,
    },
  };
}

export const policiesOf = (channels: readonly RawChannel[]): Writing['topicsPolicies'] =>
  new Map(channels.map((one) => [one.stream_id, one.topics_policy]));

export const groupOf = (raw: RawGroup): Group => ({
  id: raw.id,
  name: raw.name,
  description: raw.description,
  members: new Set(raw.members),
  subgroups: raw.direct_subgroup_ids,
  isSystem: raw.is_system_group,
  permissions: Object.fromEntries(groupPermissions.map((name) => [name, raw[name]])),
});

export function draftOf({ id, type, to, topic, content, timestamp }: RawDraft, ownId: number): Draft {
  const [channelId] = to;
  const place =
    type === 'stream' && channelId !== undefined
      ? topicPlace(channelId, topic)
      : type === 'private' && to.length > 0
        ? directPlace(to, ownId)
        : undefined;
  return { id, place, content, timestamp };
}

export function scheduledOf(raw: RawScheduled, ownId: number): Scheduled {
  const to = [raw.to].flat();
  return {
    id: raw.scheduled_message_id,
    place: raw.type === 'stream' ? topicPlace(to[0] ?? 0, raw.topic ?? '') : directPlace(to, ownId),
    content: raw.content,
    due: raw.scheduled_delivery_timestamp,
    hasFailed: raw.failed,
  };
}

export const reminderOf = (raw: RawReminder): Reminder => ({
  id: raw.reminder_id,
  messageId: raw.reminder_target_message_id,
  content: raw.content,
  due: raw.scheduled_delivery_timestamp,
});
