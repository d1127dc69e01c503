import { type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

/**
 * Every key of the `realm` group and its type, from the event catalogue: `?` may be null, `group` is a group-setting
 * value.
 */
const keys: Record<string, string> = {
  realm_name: 'string',
  realm_description: 'string',
  realm_default_language: 'string',
  realm_default_code_block_language: 'string',
  realm_welcome_message_custom_text: 'string',
  realm_org_type: 'number',
  realm_plan_type: 'number',
  realm_icon_url: 'string',
  realm_icon_source: 'string',
  realm_logo_url: 'string',
  realm_logo_source: 'string',
  realm_night_logo_url: 'string',
  realm_night_logo_source: 'string',
  realm_url: 'string',
  realm_uri: 'string',
  realm_bot_domain: 'string',
  realm_date_created: 'number',
  realm_digest_emails_enabled: 'boolean',
  realm_digest_weekday: 'number',
  realm_disallow_disposable_email_addresses: 'boolean',
  realm_emails_restricted_to_domains: 'boolean',
  realm_invite_required: 'boolean',
  realm_invite_links_verify_email: 'boolean',
  realm_email_changes_disabled: 'boolean',
  realm_name_changes_disabled: 'boolean',
  realm_avatar_changes_disabled: 'boolean',
  realm_require_unique_names: 'boolean',
  realm_send_welcome_emails: 'boolean',
  realm_want_advertise_in_communities_directory: 'boolean',
  realm_enable_spectator_access: 'boolean',
  realm_presence_disabled: 'boolean',
  realm_enable_read_receipts: 'boolean',
  realm_enable_guest_user_indicator: 'boolean',
  realm_enable_guest_user_dm_warning: 'boolean',
  realm_inline_image_preview: 'boolean',
  realm_inline_url_embed_preview: 'boolean',
  realm_message_content_allowed_in_email_notifications: 'boolean',
  realm_push_notifications_enabled: 'boolean',
  realm_require_e2ee_push_notifications: 'boolean',
  realm_send_channel_events_messages: 'boolean',
  realm_allow_message_editing: 'boolean',
  realm_allow_edit_history: 'boolean',
  realm_mandatory_topics: 'boolean',
  realm_topics_policy: 'string',
  realm_message_edit_history_visibility_policy: 'string',
  realm_message_content_edit_limit_seconds: 'number?',
  realm_message_content_delete_limit_seconds: 'number?',
  realm_move_messages_within_stream_limit_seconds: 'number?',
  realm_move_messages_between_streams_limit_seconds: 'number?',
  realm_message_retention_days: 'number',
  realm_waiting_period_threshold: 'number',
  realm_giphy_rating: 'number',
  giphy_rating_options: 'object',
  realm_video_chat_provider: 'number',
  realm_available_video_chat_providers: 'object',
  realm_jitsi_server_url: 'string?',
  server_jitsi_server_url: 'string?',
  jitsi_server_url: 'string?',
  realm_authentication_methods: 'object',
  realm_moderation_request_channel_id: 'number',
  realm_new_stream_announcements_stream_id: 'number',
  realm_signup_announcements_stream_id: 'number',
  realm_zulip_update_announcements_stream_id: 'number',
  realm_push_notifications_enabled_end_timestamp: 'number?',
  realm_upload_quota_mib: 'number?',
  realm_empty_topic_display_name: 'string',
  realm_default_external_accounts: 'object',
  realm_create_public_stream_policy: 'number',
  realm_create_private_stream_policy: 'number',
  realm_create_web_public_stream_policy: 'number',
  realm_wildcard_mention_policy: 'number',
  realm_email_auth_enabled: 'boolean',
  realm_password_auth_enabled: 'boolean',
  realm_is_zephyr_mirror_realm: 'boolean',
  realm_can_access_all_users_group: 'group',
  realm_can_add_custom_emoji_group: 'group',
  realm_can_add_subscribers_group: 'group',
  realm_can_create_bots_group: 'group',
  realm_can_create_groups: 'group',
  realm_can_create_private_channel_group: 'group',
  realm_can_create_public_channel_group: 'group',
  realm_can_create_web_public_channel_group: 'group',
  realm_can_create_write_only_bots_group: 'group',
  realm_can_delete_any_message_group: 'group',
  realm_can_delete_own_message_group: 'group',
  realm_can_invite_users_group: 'group',
  realm_can_manage_all_groups: 'group',
  realm_can_manage_billing_group: 'group',
  realm_can_mention_many_users_group: 'group',
  realm_can_move_messages_between_channels_group: 'group',
  realm_can_move_messages_between_topics_group: 'group',
  realm_can_resolve_topics_group: 'group',
  realm_can_set_delete_message_policy_group: 'group',
  realm_can_set_topics_policy_group: 'group',
  realm_can_summarize_topics_group: 'group',
  realm_create_multiuse_invite_group: 'group',
  realm_direct_message_initiator_group: 'group',
  realm_direct_message_permission_group: 'group',
  max_stream_name_length: 'number',
  max_stream_description_length: 'number',
  max_topic_length: 'number',
  max_message_length: 'number',
  max_channel_folder_name_length: 'number',
  max_channel_folder_description_length: 'number',
  max_reminder_note_length: 'number',
  max_bulk_new_subscription_messages: 'number',
  max_avatar_file_size_mib: 'number',
  max_file_upload_size_mib: 'number',
  max_icon_file_size_mib: 'number',
  max_logo_file_size_mib: 'number',
  password_min_length: 'number',
  password_max_length: 'number',
  password_min_guesses: 'number',
  server_presence_ping_interval_seconds: 'number',
  server_presence_offline_threshold_seconds: 'number',
  server_typing_started_expiry_period_milliseconds: 'number',
  server_typing_stopped_wait_period_milliseconds: 'number',
  server_typing_started_wait_period_milliseconds: 'number',
  server_min_deactivated_realm_deletion_days: 'number?',
  server_max_deactivated_realm_deletion_days: 'number?',
  server_emoji_data_url: 'string',
  server_thumbnail_formats: 'object',
  server_supported_permission_settings: 'object',
  server_generation: 'number',
  development_environment: 'boolean',
  server_needs_upgrade: 'boolean',
  server_web_public_streams_enabled: 'boolean',
  server_inline_image_preview: 'boolean',
  server_inline_url_embed_preview: 'boolean',
  server_avatar_changes_disabled: 'boolean',
  server_name_changes_disabled: 'boolean',
  server_can_summarize_topics: 'boolean',
  settings_send_digest_emails: 'boolean',
  zulip_plan_is_not_limited: 'boolean',
  upgrade_text_for_wide_organization_logo: 'string',
  server_report_message_types: 'object',
  event_queue_longpoll_timeout_seconds: 'number',
};

const fits = (value: Json, type: string): boolean => {
  if (type === 'group') return typeof value === 'number' || Array.isArray(value?.direct_members);
  if (type.endsWith('?') && value === null) return true;
  return value !== null && typeof value === type.replace('?', '');
};

test('a register of the realm has every key of the catalogue with its type', async () => {
  const realm = await openRealm();
  const state = await realm.guest.ok('POST', '/register', { fetch_event_types: ['realm'] });
  expect(
    Object.entries(keys)
      .filter(([name, type]) => !fits(state[name], type))
      .map(([name]) => name),
  ).toEqual([]);
  expect(state).toMatchObject({
    realm_name: realm.host.split('.')[0],
    realm_topics_policy: 'allow_empty_topic',
    realm_empty_topic_display_name: 'general chat',
    realm_message_retention_days: -1,
    max_message_length: 10_000,
    max_topic_length: 60,
    max_stream_name_length: 60,
    max_stream_description_length: 1024,
    realm_wildcard_mention_policy: 5,
    server_web_public_streams_enabled: true,
  });
});

test('the collections of the realm can be fetched by their own names', async () => {
  const realm = await openRealm();
  const names = [
    'realm_domains',
    'realm_emoji',
    'realm_linkifiers',
    'realm_filters',
    'realm_playgrounds',
    'realm_billing',
  ];
  const state = await realm.member.ok('POST', '/register', {
    fetch_event_types: [...names, 'realm_embedded_bots', 'stop_words', 'video_calls', 'giphy'],
  });
  expect(state).toMatchObject({
    realm_domains: [],
    realm_emoji: {},
    realm_linkifiers: [],
    realm_filters: [],
    realm_playgrounds: [],
    realm_billing: { has_pending_sponsorship_request: false },
    realm_embedded_bots: [],
    stop_words: [],
    has_zoom_token: false,
    giphy_api_key: '',
  });
  expect(state).not.toHaveProperty('realm_name');
});

test('a register lists the supported permissions with their allowed values', async () => {
  const realm = await openRealm();
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['realm'] });
  const { realm: realms, stream, group } = state.server_supported_permission_settings;
  expect([Object.keys(realms).length, Object.keys(stream).length, Object.keys(group).length]).toEqual([
    24,
    expect.any(Number),
    6,
  ]);
  expect(realms.can_create_web_public_channel_group).toEqual({
    require_system_group: true,
    allow_internet_group: false,
    allow_nobody_group: true,
    allow_everyone_group: false,
    default_group_name: 'role:owners',
    default_for_system_groups: null,
    allowed_system_groups: ['role:moderators', 'role:administrators', 'role:owners', 'role:nobody'],
  });
  expect(group.can_mention_group).toMatchObject({ default_group_name: 'role:everyone', allow_everyone_group: true });
});

test('GET /server_settings describes the realm without authentication', async () => {
  const realm = await openRealm();
  await realm.owner.ok('PATCH', '/realm', { description: 'Who we are', enable_spectator_access: true });
  const settings = await realm.spectator.ok('GET', '/server_settings');
  expect(settings).toMatchObject({
    zulip_feature_level: expect.any(Number),
    zulip_version: expect.any(String),
    zulip_merge_base: expect.any(String),
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_name: realm.host.split('.')[0],
    realm_description: 'Who we are',
    realm_web_public_access_enabled: true,
    authentication_methods: { password: true, ldap: false },
    external_authentication_methods: [],
  });
  expect(new URL(settings.realm_url).hostname).toBe(realm.host);
  expect(settings.realm_uri).toBe(settings.realm_url);
  const icon = await realm.spectator.get(`/${new URL(settings.realm_icon).pathname}`);
  expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/png']);
});

test('the URL of the emoji data in a register is served', async () => {
  const realm = await openRealm();
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['realm'] });
  const { status, body } = await realm.spectator.get(`/${new URL(state.server_emoji_data_url).pathname}`);
  expect(status).toBe(200);
  expect(Object.keys(body.code_to_names)).toHaveLength(1875);
  expect(body.code_to_names).toMatchObject({
    '1f642': ['smile'],
    '1f44d': ['+1', 'thumbs_up', 'like'],
    '1f408': ['cat', 'meow'],
    '1f1e9-1f1ea': ['flag_germany'],
    '1f3f3-200d-1f308': expect.arrayContaining(['rainbow_flag']),
  });
});
