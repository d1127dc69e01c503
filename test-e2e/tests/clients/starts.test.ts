import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { problemsOf, type Shape } from './shape.ts';
import {
  channel,
  customProfileField,
  legacyPresence,
  message,
  reaction,
  realmEmoji,
  serverSettings,
  subscription,
  unread,
  user,
  userGroup,
} from './shapes.ts';

let realm: Realm;
let channelId: number;
/** A realm with one object of every kind that a client reads at its start. */
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
  const { owner, member, member2 } = realm;
  const principals = [owner, member, member2].map((one) => one.user_id);
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'start', description: 'of **clients**' }],
    principals,
  });
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'elsewhere' }] });
  await owner.ok('POST', '/realm/profile_fields', { name: 'Role', hint: 'what', field_type: 1 });
  await owner.ok('POST', '/user_groups/create', { name: 'some', description: '', members: principals });
  const { streams } = await member.ok('GET', '/streams');
  channelId = streams.find((one: Json) => one.name === 'start').stream_id;
  await send(member2, { type: 'channel', to: 'start', topic: 'before', content: 'unread @**all**' });
  await send(member2, { type: 'direct', to: [member.user_id], content: 'unread' });
  await send(member2, { type: 'direct', to: [member.user_id, owner.user_id], content: 'unread' });
  await member2.ok('POST', '/users/me/presence', { status: 'active' });
  await member2.ok('POST', '/users/me/status', { status_text: 'busy' });
  await member.ok('POST', `/users/me/muted_users/${realm.moderator.user_id}`);
  await member.ok('POST', '/user_topics', { stream_id: channelId, topic: 'loud', visibility_policy: 3 });
  await member.ok('POST', '/saved_snippets', { title: 'hi', content: 'there' });
});

const send = (who: Client, form: Json): Promise<Json> => who.ok('POST', '/messages', form);
const check = (value: unknown, shape: Shape) => expect(problemsOf(value, shape)).toEqual([]);
/** Logs in a user who has only a password. */
async function logIn(): Promise<string> {
  const { spectator, member } = realm;
  check(await spectator.ok('GET', '/server_settings'), serverSettings);
  const answer = await spectator.ok('POST', '/fetch_api_key', { username: member.email, password: member.password });
  check(answer, { api_key: 'str', email: 'str', user_id: 'int' });
  return answer.api_key;
}

/** Polls like a client, until an event of each kind arrived. */
async function following(queue: Json, kinds: string[], cause: () => Promise<unknown>): Promise<Map<string, Json>> {
  await cause();
  const seen = new Map<string, Json>();
  for (let last = queue.last_event_id, end = Date.now() + 120_000; kinds.some((kind) => !seen.has(kind)); ) {
    if (Date.now() > end) throw new Error(`only ${[...seen.keys()]} of ${kinds}`);
    const { events } = await realm.member.ok('GET', '/events', { queue_id: queue.queue_id, last_event_id: last });
    for (const event of events) {
      check(event, { id: 'int', type: 'str' });
      expect(event.id).toBeGreaterThan(last);
      last = event.id;
      seen.set(event.op === undefined ? event.type : `${event.type}/${event.op}`, event);
    }
  }
  return seen;
}

let rounds = 0;
/** Causes an event of every type that the typed clients handle. */
async function happenings(): Promise<void> {
  const { member, member2, owner } = realm;
  const newcomer = await realm.person();
  const { id } = await send(member2, { type: 'channel', to: 'start', topic: 'live', content: 'one' });
  await member.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'wave' });
  await member2.ok('PATCH', `/messages/${id}`, { content: 'two', topic: 'moved' });
  await member.ok('POST', '/messages/flags', { op: 'add', flag: 'starred', messages: [id] });
  await member2.ok('POST', '/typing', { op: 'start', to: [member.user_id] });
  await newcomer.ok('POST', '/users/me/presence', { status: 'active' });
  await member.ok('PATCH', '/settings', { twenty_four_hour_time: ++rounds % 2 === 1 });
  await owner.ok('PATCH', `/users/${member2.user_id}`, { full_name: `Renamed ${id}` });
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: `joined ${id}` }],
    principals: [member.user_id],
  });
  await owner.ok('DELETE', `/messages/${id}`);
}

test('the Python client starts: server settings, a register of all data with JSON booleans, events, a message', async () => {
  const { member } = realm;
  check(await member.ok('GET', '/server_settings'), { zulip_feature_level: 'int', zulip_version: 'str' });
  // The Python client sends null for omitted arguments, and lists as JSON.
  const state = await member.ok('POST', '/register', {
    event_types: null,
    narrow: [],
    include_subscribers: true,
    apply_markdown: false,
    client_gravatar: false,
    all_public_streams: false,
  });
  check(state, { result: 'str', msg: 'str', queue_id: 'str', last_event_id: 'int', zulip_feature_level: 'int' });
  const seen = await following(state, ['message', 'reaction/add'], happenings);
  check(seen.get('message'), { message: { ...message, sender_email: 'str' }, flags: ['str'] });
  const sent = await member.ok('POST', '/messages', {
    type: 'stream',
    to: 'start',
    subject: 'python',
    content: 'hello',
  });
  check(sent, { id: 'int' });
});

test('the JS client starts: a password login, a register by types, a poll, a page of messages', async () => {
  const { member } = realm;
  await logIn();
  const state = await member.ok('POST', '/register', { event_types: ['message'] });
  check(state, { queue_id: 'str', last_event_id: 'int' });
  const seen = await following(state, ['message'], happenings);
  check(seen.get('message')?.message, message);
  const found = await member.ok('GET', '/messages', { anchor: 'newest', num_before: 5, num_after: 0, narrow: [] });
  check(found, {
    messages: [{ ...message, flags: ['str'] }],
    found_newest: 'bool',
    found_oldest: 'bool',
    anchor: 'num',
  });
});

const typingTimes: Shape = {
  server_typing_started_expiry_period_milliseconds: 'int',
  server_typing_stopped_wait_period_milliseconds: 'int',
  server_typing_started_wait_period_milliseconds: 'int',
};

test('the terminal client starts: login, a page, a register with ten types, legacy presence, end of the queue', async () => {
  const { member, member2, owner } = realm;
  await logIn();
  // After two minutes a user is no longer shown as active.
  await member2.ok('POST', '/users/me/presence', { status: 'active' });
  const state = await member.ok('POST', '/register', {
    event_types: [
      'message',
      'update_message',
      'reaction',
      'submessage',
      'subscription',
      'typing',
      'update_message_flags',
      'user_settings',
      'realm_emoji',
      'realm_user',
    ],
    fetch_event_types: [
      'realm',
      'presence',
      'subscription',
      'message',
      'starred_messages',
      'update_message_flags',
      'muted_topics',
      'realm_user',
      'realm_user_groups',
      'update_global_notifications',
      'update_display_settings',
      'user_settings',
      'realm_emoji',
      'custom_profile_fields',
      'zulip_version',
    ],
    client_gravatar: true,
    apply_markdown: true,
    include_subscribers: true,
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  check(state, {
    queue_id: 'str',
    last_event_id: 'int',
    zulip_version: 'str',
    zulip_feature_level: 'int',
    user_id: 'int',
    email: 'str',
    full_name: 'str',
    is_admin: 'bool',
    realm_name: 'str',
    realm_url: 'str',
    realm_uri: 'str',
    max_message_id: 'int',
    max_stream_name_length: 'int',
    max_stream_description_length: 'int',
    max_topic_length: 'int',
    max_message_length: 'int',
    realm_allow_message_editing: 'bool',
    realm_message_content_edit_limit_seconds: 'int?',
    server_presence_offline_threshold_seconds: 'int',
    server_presence_ping_interval_seconds: 'int',
    ...(typingTimes as object),
    realm_users: [user],
    realm_non_active_users: [user],
    cross_realm_bots: [user],
    presences: { '*': legacyPresence },
    subscriptions: [{ ...subscription, subscribers: ['int'] }],
    unsubscribed: [{ ...subscription, subscribers: ['int'] }],
    never_subscribed: [{ ...channel, subscribers: ['int'] }],
    unread_msgs: unread,
    starred_messages: ['int'],
    muted_topics: ['any'],
    realm_emoji: { '*': realmEmoji },
    realm_user_groups: [userGroup],
    custom_profile_fields: [customProfileField],
    user_settings: { twenty_four_hour_time: 'bool', send_private_typing_notifications: 'bool' },
    twenty_four_hour_time: 'bool',
    pm_content_in_desktop_notifications: 'bool',
  });
  expect(state.presences[member2.email].aggregated.status).toBe('active');
  expect(state.unread_msgs.count).toBeGreaterThanOrEqual(3);
  const pinged = await member.ok('POST', '/users/me/presence', { status: 'active', new_user_input: true });
  check(pinged.presences, { '*': legacyPresence });
  const found = await member.ok('GET', '/messages', { anchor: 'first_unread', num_before: 30, num_after: 10 });
  check(found, { messages: [{ ...message, flags: ['str'] }], found_newest: 'bool' });
  check(await member.ok('GET', `/users/me/${channelId}/topics`), { topics: [{ name: 'str', max_id: 'int' }] });
  const kinds = ['message', 'update_message', 'reaction/add', 'subscription/add', 'typing/start'];
  const seen = await following(
    state,
    [...kinds, 'update_message_flags/add', 'user_settings/update', 'realm_user/update'],
    happenings,
  );
  check(seen.get('message'), { message, flags: ['str'] });
  check(seen.get('update_message'), {
    message_id: 'int',
    message_ids: ['int'],
    stream_id: 'int',
    orig_subject: 'str',
    subject: 'str',
    propagate_mode: 'str',
    rendered_content: 'str',
  });
  check(seen.get('reaction/add'), {
    ...(reaction as object),
    message_id: 'int',
    user: { email: 'str', full_name: 'str' },
  });
  check(seen.get('update_message_flags/add'), {
    operation: 'str',
    op: 'str',
    flag: 'str',
    messages: ['int'],
    all: 'bool',
  });
  check(seen.get('typing/start'), { sender: { user_id: 'int', email: 'str' }, op: 'str' });
  check(seen.get('user_settings/update'), { property: 'str', value: 'any' });
  check(seen.get('subscription/add'), { subscriptions: [{ ...subscription, subscribers: ['int'] }] });
  check(await owner.ok('GET', '/users/me'), { user_id: 'int' });
  expect((await member.ok('DELETE', '/events', { queue_id: state.queue_id })).result).toBe('success');
});

test('the Flutter client starts: a register of all data in modern forms, legacy presence events, an emoji by address', async () => {
  const { member, member2 } = realm;
  await logIn();
  const state = await member.ok('POST', '/register', {
    apply_markdown: true,
    client_gravatar: false,
    slim_presence: true,
    include_subscribers: 'partial',
    idle_queue_timeout: 'mobile',
    client_capabilities: {
      notification_settings_null: true,
      bulk_message_deletion: true,
      user_avatar_url_field_optional: false,
      stream_typing_notifications: true,
      user_settings_object: true,
      include_deactivated_groups: true,
      empty_topic_name: true,
      archived_channels: true,
    },
  });
  check(state, {
    queue_id: 'str',
    last_event_id: 'int',
    zulip_feature_level: 'int',
    zulip_version: 'str',
    zulip_merge_base: 'str',
    alert_words: ['str'],
    custom_profile_fields: [customProfileField],
    max_stream_name_length: 'int',
    max_topic_length: 'int',
    server_presence_ping_interval_seconds: 'int',
    server_presence_offline_threshold_seconds: 'int',
    ...(typingTimes as object),
    muted_users: [{ id: 'int', timestamp: 'int' }],
    presences: { '*': { active_timestamp: 'int', idle_timestamp: 'int' } },
    presence_last_update_id: 'int',
    realm_emoji: { '*': realmEmoji },
    realm_user_groups: [userGroup],
    recent_private_conversations: [{ max_message_id: 'int', user_ids: ['int'] }],
    saved_snippets: [{ id: 'int', title: 'str', content: 'str', date_created: 'int' }],
    subscriptions: [subscription],
    channel_folders: [{ id: 'int', name: 'str' }],
    streams: [channel],
    unread_msgs: unread,
    user_status: { '*': {} },
    user_settings: {
      twenty_four_hour_time: 'bool',
      display_emoji_reaction_users: 'bool',
      emojiset: 'str',
      presence_enabled: 'bool',
    },
    user_topics: [{ stream_id: 'int', topic_name: 'str', last_updated: 'int', visibility_policy: 'int' }],
    realm_can_delete_any_message_group: 'group',
    realm_can_delete_own_message_group: 'group',
    realm_wildcard_mention_policy: 'int',
    realm_mandatory_topics: 'bool',
    realm_topics_policy: 'str',
    realm_name: 'str',
    realm_icon_url: 'str',
    realm_waiting_period_threshold: 'int',
    realm_message_content_delete_limit_seconds: 'int?',
    realm_allow_message_editing: 'bool',
    realm_message_content_edit_limit_seconds: 'int?',
    realm_enable_read_receipts: 'bool',
    realm_presence_disabled: 'bool',
    realm_empty_topic_display_name: 'str',
    realm_default_external_accounts: {
      '*': { name: 'str', text: 'str', hint: 'str', url_pattern: 'str' },
    },
    server_emoji_data_url: 'str',
    server_thumbnail_formats: [{ name: 'str', max_width: 'int', max_height: 'int', format: 'str', animated: 'bool' }],
    max_file_upload_size_mib: 'int',
    realm_users: [user],
    realm_non_active_users: [user],
    cross_realm_bots: [{ ...user, is_system_bot: 'bool' }],
  });
  // The client's parser of wildcard policies accepts these values only.
  expect([1, 2, 3, 5, 6, 7]).toContain(state.realm_wildcard_mention_policy);
  expect(state.realm_users.every((one: Json) => one.avatar_url !== null)).toBe(true);
  expect(state.user_status[member2.user_id].status_text).toBe('busy');
  const emoji = await realm.spectator.get(
    new URL(state.server_emoji_data_url, 'http://any').pathname.replace(/^/, '/'),
  );
  expect(emoji.status).toBe(200);
  check(emoji.body, { code_to_names: { '*': ['str'] } });
  const pinged = await member.ok('POST', '/users/me/presence', {
    status: 'active',
    new_user_input: true,
    ping_only: false,
    last_update_id: state.presence_last_update_id,
    history_limit_days: 14,
  });
  check(pinged, {
    presence_last_update_id: 'int',
    server_timestamp: 'num',
    presences: { '*': { active_timestamp: 'int' } },
  });
  const seen = await following(
    state,
    ['message', 'presence', 'update_message', 'delete_message', 'realm_user/add', 'realm_user/update', 'typing/start'],
    happenings,
  );
  check(seen.get('message'), { message: { ...message, avatar_url: 'str?' }, flags: ['str'] });
  check(seen.get('presence'), {
    user_id: 'int',
    server_timestamp: 'num',
    presence: { website: { client: 'str', status: 'str', timestamp: 'int', pushable: 'bool' } },
  });
  check(seen.get('update_message'), {
    user_id: 'int?',
    rendering_only: 'bool',
    message_id: 'int',
    message_ids: ['int'],
    flags: ['str'],
    edit_timestamp: 'int',
    stream_id: 'int',
  });
  check(seen.get('delete_message'), { message_ids: ['int'], message_type: 'str', stream_id: 'int', topic: 'str' });
  check(seen.get('realm_user/add'), { person: user });
  check(seen.get('realm_user/update'), { person: { user_id: 'int' } });
  check(seen.get('typing/start'), {
    message_type: 'str',
    sender: { user_id: 'int', email: 'str' },
    recipients: [{ user_id: 'int' }],
  });
});
