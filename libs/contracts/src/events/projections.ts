import { personEvents, realmEvents } from './durable-consumers.ts';
import type { Projection } from './projection.ts';

const realm_id = 'a.realm_id';
/** The address visible to all users. */
const email = `CASE WHEN coalesce((a.settings->>'email_address_visibility')::int, 1) = 1 THEN a.email
  ELSE 'user' || a.id || '@' || (SELECT r.host FROM users.realm r WHERE r.id = a.realm_id) END`;
const avatarUrl = `CASE WHEN a.avatar_token IS NULL THEN '/avatar/' || a.id ELSE '/user_avatars/of/' || a.avatar_token END
  || '?version=' || a.avatar_version`;
const accounts = 'users.account a';
/** Deactivated users are members of no group. */
const members = `users.group_member m JOIN users.user_group g ON g.id = m.group_id
  JOIN users.account a ON a.id = m.user_id AND a.is_active`;
const subgroups = 'users.group_subgroup s JOIN users.user_group g ON g.id = s.group_id';
const memberColumns = { realm_id: 'g.realm_id', group_id: 'm.group_id', user_id: 'm.user_id' };
const subgroupColumns = { realm_id: 'g.realm_id', group_id: 's.group_id', subgroup_id: 's.subgroup_id' };
const namesOf = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/** Personal settings that messaging uses in decisions. */
export const keptPersonalSettings = [
  'enable_drafts_synchronization',
  'send_stream_typing_notifications',
  'send_private_typing_notifications',
  'receives_typing_notifications',
  'send_read_receipts',
  'translate_emoticons',
  'automatically_follow_topics_where_mentioned',
  'automatically_follow_topics_policy',
  'automatically_unmute_topics_in_muted_streams_policy',
  'resolved_topic_notice_auto_read_policy',
  'email_address_visibility',
] as const;

/** Realm settings that decide whether and where notices are sent. */
export const keptRealmSettings = [
  'new_stream_announcements_stream_id',
  'signup_announcements_stream_id',
  'send_channel_events_messages',
  'welcome_message_custom_text',
] as const;

export const projections: readonly Projection[] = [
  {
    service: 'channels',
    table: 'channels.person',
    consumer: 'people',
    events: [...personEvents, 'user_settings/update'],
    columns: {
      realm_id,
      user_id: 'a.id',
      email,
      role: 'a.role',
      is_active: 'a.is_active',
      is_bot: 'a.is_bot',
      bot_owner_id: 'a.bot_owner_id',
    },
    from: accounts,
    // The defaults of a channel's notification settings: the user's own settings over the realm's defaults.
    own: ['notifications'],
  },
  {
    service: 'channels',
    table: 'channels.user_group',
    consumer: 'people',
    events: ['user_group/add', 'user_group/update', 'user_group/remove'],
    columns: {
      realm_id: 'g.realm_id',
      id: 'g.id',
      name: 'g.name',
      is_system: 'g.is_system',
      is_active: 'NOT g.is_deactivated',
    },
    from: 'users.user_group g',
  },
  {
    service: 'channels',
    table: 'channels.group_member',
    consumer: 'people',
    events: ['user_group/add', 'user_group/add_members', 'user_group/remove_members'],
    columns: memberColumns,
    from: members,
  },
  {
    service: 'channels',
    table: 'channels.group_subgroup',
    consumer: 'people',
    events: ['user_group/add', 'user_group/add_subgroups', 'user_group/remove_subgroups'],
    columns: subgroupColumns,
    from: subgroups,
  },
  {
    service: 'messaging',
    table: 'messaging.person',
    consumer: 'people',
    events: personEvents,
    columns: {
      realm_id,
      user_id: 'a.id',
      email,
      full_name: 'a.full_name',
      is_active: 'a.is_active',
      is_bot: 'a.is_bot',
      avatar_url: avatarUrl,
    },
    from: accounts,
  },
  {
    service: 'messaging',
    table: 'messaging.standing',
    consumer: 'notices',
    events: personEvents,
    columns: { realm_id, user_id: 'a.id', role: 'a.role', bot_owner_id: 'a.bot_owner_id' },
    from: accounts,
    // Not used any more; the next release drops it.
    own: ['full_name'],
  },
  {
    service: 'messaging',
    table: 'messaging.system_bot',
    consumer: 'notices',
    events: ['realm_user/add'],
    columns: { realm_id, user_id: 'a.id', name: 'a.full_name' },
    from: 'users.account a WHERE a.is_system_bot',
  },
  {
    service: 'messaging',
    table: 'messaging.personal_setting',
    consumer: 'personal-settings',
    events: ['realm_user/add', 'user_settings/update'],
    columns: { realm_id, user_id: 'a.id', name: 's.key', value: 's.value' },
    from: `users.account a, jsonb_each(a.settings) s WHERE s.key IN (${namesOf(keptPersonalSettings)})`,
  },
  {
    service: 'messaging',
    table: 'messaging.user_group',
    consumer: 'sending-copies',
    events: ['user_group/add', 'user_group/update', 'user_group/remove'],
    columns: {
      realm_id: 'g.realm_id',
      group_id: 'g.id',
      name: 'g.name',
      is_deactivated: 'g.is_deactivated',
      can_mention: `coalesce(g.permissions->'can_mention_group',
        (SELECT to_jsonb(n.id) FROM users.user_group n WHERE n.realm_id = g.realm_id AND n.name = 'role:nobody'))`,
    },
    from: 'users.user_group g',
  },
  {
    service: 'messaging',
    table: 'messaging.group_member',
    consumer: 'sending-copies',
    events: ['user_group/add', 'user_group/add_members', 'user_group/remove_members'],
    columns: memberColumns,
    from: members,
  },
  {
    service: 'messaging',
    table: 'messaging.group_subgroup',
    consumer: 'sending-copies',
    events: ['user_group/add', 'user_group/add_subgroups', 'user_group/remove_subgroups'],
    columns: subgroupColumns,
    from: subgroups,
  },
  {
    service: 'messaging',
    table: 'messaging.alert_word',
    consumer: 'sending-copies',
    events: ['alert_words'],
    columns: { realm_id, user_id: 'a.id', word: 'lower(w.word)' },
    from: 'users.alert_word w JOIN users.account a ON a.id = w.user_id',
    own: ['head'],
  },
  {
    service: 'messaging',
    table: 'messaging.linkifier',
    consumer: 'sending-copies',
    events: ['realm_linkifiers'],
    columns: {
      realm_id: 'l.realm_id',
      ordinal: '(row_number() OVER (PARTITION BY l.realm_id ORDER BY l.position, l.id) - 1)::int',
      linkifier_id: 'l.id',
      pattern: 'l.pattern',
      url_template: 'l.url_template',
    },
    from: 'users.linkifier l',
  },
  {
    service: 'messaging',
    table: 'messaging.realm_emoji',
    consumer: 'realm-emoji',
    events: ['realm_emoji/update'],
    columns: {
      realm_id: 'e.realm_id',
      id: 'e.id::text',
      name: 'e.name',
      source_url: "'/user_avatars/emoji/' || e.id",
      is_deactivated: 'e.is_deactivated',
    },
    from: 'users.realm_emoji e',
  },
  {
    service: 'messaging',
    table: 'messaging.realm_setting',
    consumer: 'notices',
    events: realmEvents,
    columns: { realm_id: 'r.id', name: 's.key', value: 's.value' },
    from: `users.realm r, jsonb_each(r.settings) s WHERE s.key IN (${namesOf(keptRealmSettings)})`,
  },
  {
    service: 'messaging',
    table: 'messaging.channel',
    consumer: 'periods',
    events: ['stream/create', 'stream/update'],
    columns: {
      realm_id: 'c.realm_id',
      channel_id: 'c.id',
      name: 'c.name',
      is_private: 'c.is_private',
      is_web_public: 'c.is_web_public',
      is_archived: 'c.is_archived',
      history_public: 'c.history_public',
    },
    from: 'channels.channel c',
  },
  {
    service: 'messaging',
    table: 'messaging.muted_channel',
    consumer: 'periods',
    events: ['subscription/update'],
    columns: { realm_id: 's.realm_id', user_id: 's.user_id', channel_id: 's.channel_id' },
    from: 'channels.subscription s WHERE s.is_muted',
  },
  {
    service: 'messaging',
    table: 'messaging.subscription_period',
    consumer: 'periods',
    events: ['subscription/add', 'subscription/remove'],
    columns: { realm_id: 's.realm_id', user_id: 's.user_id', channel_id: 's.channel_id' },
    from: 'channels.subscription s WHERE s.is_active',
    current: 'to_id IS NULL',
    own: ['from_id', 'to_id'],
  },
  {
    service: 'messaging',
    table: 'messaging.mute_period',
    consumer: 'periods',
    events: ['muted_users'],
    columns: { realm_id, user_id: 'm.user_id', muted_id: 'm.muted_user_id' },
    from: 'users.muted_user m JOIN users.account a ON a.id = m.user_id',
    current: 'to_id IS NULL',
    own: ['from_id', 'to_id'],
  },
  {
    service: 'presence',
    table: 'presence.person',
    consumer: 'people',
    events: [...personEvents, 'user_settings/update'],
    columns: {
      realm_id,
      user_id: 'a.id',
      email,
      is_active: 'a.is_active',
      is_bot: 'a.is_bot',
      presence_enabled: "coalesce((a.settings->>'presence_enabled')::boolean, true)",
    },
    from: accounts,
  },
  {
    service: 'presence',
    table: 'presence.realm',
    consumer: 'people',
    events: realmEvents,
    columns: { realm_id: 'r.id', presence_disabled: "(r.settings->>'presence_disabled')::boolean" },
    from: "users.realm r WHERE r.settings ? 'presence_disabled'",
  },
  {
    service: 'users',
    table: 'users.shared_channel',
    consumer: 'acquaintance',
    events: ['subscription/add', 'subscription/remove'],
    columns: { realm_id: 's.realm_id', channel_id: 's.channel_id', user_id: 's.user_id' },
    from: 'channels.subscription s JOIN users.realm r ON r.id = s.realm_id AND r.limits_guests WHERE s.is_active',
  },
  {
    service: 'users',
    table: 'users.direct_contact',
    consumer: 'acquaintance',
    events: ['acquainted'],
    columns: { realm_id: 'd.realm_id', user_id: 'd.user_id', partner_id: 'd.partner_id' },
    from: `(SELECT DISTINCT m.realm_id, u AS user_id, p AS partner_id FROM messaging.message m
      JOIN users.realm r ON r.id = m.realm_id AND r.limits_guests, unnest(m.recipient_ids) u, unnest(m.recipient_ids) p
      WHERE u <> p) d`,
  },
];
