import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const stateOf = (client: Client): Promise<Json> => client.ok('POST', '/register', { fetch_event_types: ['realm'] });

/** Another value of each setting, as sent in `PATCH /realm` and as clients read it. */
const changes: [string, unknown, unknown][] = [
  ['name', 'Another name', 'Another name'],
  ['description', 'What we do', 'What we do'],
  ['org_type', 10, 10],
  ['default_language', 'de', 'de'],
  ['default_code_block_language', 'python', 'python'],
  ['welcome_message_custom_text', 'Hello there', 'Hello there'],
  ['emails_restricted_to_domains', true, true],
  ['disallow_disposable_email_addresses', false, false],
  ['invite_required', false, false],
  ['invite_links_verify_email', true, true],
  ['name_changes_disabled', true, true],
  ['default_language', 'ja', 'ja'],
  ['email_changes_disabled', true, true],
  ['avatar_changes_disabled', true, true],
  ['require_unique_names', true, true],
  ['waiting_period_threshold', 3, 3],
  ['inline_image_preview', false, false],
  ['inline_url_embed_preview', true, true],
  ['message_content_allowed_in_email_notifications', false, false],
  ['presence_disabled', true, true],
  ['send_welcome_emails', false, false],
  ['digest_emails_enabled', true, true],
  ['digest_weekday', 4, 4],
  ['enable_read_receipts', false, false],
  ['enable_spectator_access', true, true],
  ['want_advertise_in_communities_directory', true, true],
  ['enable_guest_user_indicator', false, false],
  ['enable_guest_user_dm_warning', false, false],
  ['require_e2ee_push_notifications', true, true],
  ['send_channel_events_messages', false, false],
  ['giphy_rating', 0, 0],
  ['video_chat_provider', 0, 0],
  ['jitsi_server_url', 'https://meet.example.org', 'https://meet.example.org'],
  ['allow_message_editing', false, false],
  ['message_content_edit_limit_seconds', 120, 120],
  ['message_content_edit_limit_seconds', 'unlimited', null],
  ['message_content_delete_limit_seconds', 'unlimited', null],
  ['move_messages_within_stream_limit_seconds', 3600, 3600],
  ['move_messages_between_streams_limit_seconds', 'unlimited', null],
  ['message_edit_history_visibility_policy', 'moves', 'moves'],
  ['message_retention_days', 30, 30],
  ['topics_policy', 'disable_empty_topic', 'disable_empty_topic'],
];

test.each(changes)(
  'PATCH /realm changes %s to %j, which is sent in an event and returned by a register',
  async (name, given, read) => {
    const queue = await realm.guest.queue({ event_types: ['realm'] });
    const answer = await realm.owner.ok('PATCH', '/realm', { [name]: given });
    expect(answer[name]).toEqual(read);
    const event = await queue.next((seen) => seen.property === name || (seen.data && name in seen.data));
    expect(event.op === 'update' ? event.value : event.data[name]).toEqual(read);
    expect(event.op).toBe(
      ['allow_message_editing', 'message_content_edit_limit_seconds'].includes(name) ? 'update_dict' : 'update',
    );
    expect((await stateOf(realm.member))[`realm_${name}`]).toEqual(read);
  },
);

test('an unchanged setting does not send an event and is not in the response', async () => {
  const queue = await realm.owner.queue({ event_types: ['realm', 'message'] });
  const answer = await realm.owner.ok('PATCH', '/realm', { waiting_period_threshold: 3 });
  expect(answer).not.toHaveProperty('waiting_period_threshold');
  // Notices about earlier changes may still arrive.
  expect((await queue.settle()).filter(({ type }) => type === 'realm')).toEqual([]);
});

test.each(['moderator', 'member', 'guest'] as const)('%s may not change the realm', async (role) => {
  const { status, body } = await realm[role].patch('/realm', { description: 'mine' });
  expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Must be an organization administrator']);
});

/** The settings that only owners change. A change of a permission names a group. */
const ownersSettings: Json[] = [
  { message_retention_days: 7 },
  { invite_required: true },
  { emails_restricted_to_domains: false },
  { disallow_disposable_email_addresses: true },
  { waiting_period_threshold: 9 },
  { authentication_methods: { Email: true } },
];
const ownersPermissions = [
  'create_multiuse_invite_group',
  'can_create_groups',
  'can_invite_users_group',
  'can_manage_all_groups',
  'can_manage_billing_group',
];

test('an administrator and their bot change settings, except those of owners', async () => {
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  const made = await realm.administrator.ok('POST', '/bots', { full_name: 'Settings Bot', short_name: 'settings' });
  await realm.administrator.ok('PATCH', `/bots/${made.user_id}`, { role: 200 });
  const { api_key } = await realm.administrator.ok('GET', `/bots/${made.user_id}/api_key`);
  const bot = new Client(realm.owner, { ...made, api_key, email: `settings-bot@${realm.host}` });
  const before = await stateOf(realm.member);
  for (const who of [realm.administrator, bot]) {
    await who.ok('PATCH', '/realm', { description: `by ${who.email}` });
    for (const form of [...ownersSettings, ...ownersPermissions.map((name) => ({ [name]: { new: members } }))]) {
      const { status, body } = await who.patch('/realm', { ...form, name: 'not stored' });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Must be an organization owner']);
    }
    const unchanged = { waiting_period_threshold: before.realm_waiting_period_threshold };
    expect((await who.patch('/realm', unchanged)).body.msg).toBe('Must be an organization owner');
  }
  expect(await stateOf(realm.member)).toMatchObject({ realm_name: before.realm_name });
});

test('a name over 40, a description over 1000 and a welcome text over 8000 characters are rejected', async () => {
  for (const form of [
    { name: 'x'.repeat(41) },
    { name: ' ' },
    { description: 'x'.repeat(1001) },
    { welcome_message_custom_text: 'x'.repeat(8001) },
    { org_type: 11 },
    { digest_weekday: 7 },
    { topics_policy: 'inherit' },
    { message_content_edit_limit_seconds: 0 },
    { video_chat_provider: 3 },
    { new_stream_announcements_stream_id: 987654 },
  ]) {
    const { status, body } = await realm.owner.patch('/realm', form);
    expect([status, body.code], JSON.stringify(form)).toEqual([400, 'BAD_REQUEST']);
  }
});

test('legacy names of a setting change it, and a value that it already has changes nothing', async () => {
  const { owner, member } = realm;
  const set = async (form: Json): Promise<Json> => {
    await owner.ok('PATCH', '/realm', form);
    const { realm_topics_policy, realm_mandatory_topics } = await stateOf(member);
    return [realm_topics_policy, realm_mandatory_topics];
  };
  expect(await set({ topics_policy: 'allow_empty_topic' })).toEqual(['allow_empty_topic', false]);
  expect(await set({ mandatory_topics: true })).toEqual(['disable_empty_topic', true]);
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'strict' }] });
  const empty = await owner.post('/messages', { type: 'channel', to: 'strict', topic: '', content: 'no topic' });
  expect([empty.status, empty.body.code]).toEqual([400, 'BAD_REQUEST']);
  expect(await set({ mandatory_topics: false })).toEqual(['allow_empty_topic', false]);
  await owner.ok('POST', '/messages', { type: 'channel', to: 'strict', topic: '', content: 'no topic' });
  expect(await set({ mandatory_topics: true, topics_policy: 'allow_empty_topic' })).toEqual([
    'allow_empty_topic',
    false,
  ]);
  await owner.ok('PATCH', '/realm', { allow_edit_history: false });
  expect((await stateOf(member)).realm_message_edit_history_visibility_policy).toBe('none');
  await owner.ok('PATCH', '/realm', { message_edit_history_visibility_policy: 'moves' });
  await owner.ok('PATCH', '/realm', { allow_edit_history: true });
  expect((await stateOf(member)).realm_message_edit_history_visibility_policy).toBe('moves');
  for (const wrong of [1, 'yes', null]) {
    const { status } = await owner.patch('/realm', { mandatory_topics: wrong });
    expect([wrong, status]).toEqual([wrong, 400]);
  }
  expect((await realm.moderator.patch('/realm', { mandatory_topics: true })).status).toBe(400);
  expect(await set({})).toEqual(['allow_empty_topic', false]);
});

test('legacy mirrors of a setting change with it', async () => {
  await realm.owner.ok('PATCH', '/realm', {
    message_edit_history_visibility_policy: 'all',
    topics_policy: 'allow_empty_topic',
  });
  const before = await stateOf(realm.member);
  expect([before.realm_allow_edit_history, before.realm_mandatory_topics]).toEqual([true, false]);
  const queue = await realm.member.queue({ event_types: ['realm'] });
  await realm.owner.ok('PATCH', '/realm', {
    message_edit_history_visibility_policy: 'none',
    topics_policy: 'disable_empty_topic',
  });
  await queue.next((event) => event.property === 'mandatory_topics');
  expect(Object.fromEntries(queue.seen.map((event) => [event.property, event.value]))).toEqual({
    message_edit_history_visibility_policy: 'none',
    topics_policy: 'disable_empty_topic',
    allow_edit_history: false,
    mandatory_topics: true,
  });
});
