import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let state: Json;
beforeAll(async () => {
  realm = await openRealm();
  const subscribers = [realm.owner.user_id];
  expect((await realm.spectator.post('/register')).body.code).toBe('UNAUTHORIZED');
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await realm.owner.ok('POST', '/channels/create', { name: 'Web', is_web_public: true, subscribers });
  await realm.owner.ok('POST', '/channels/create', { name: 'Public', subscribers });
  await realm.owner.ok('POST', '/users/me/status', { status_text: 'here' });
  await realm.owner.ok('POST', '/users/me/presence', { status: 'active' });
  state = await realm.spectator.ok('POST', '/register');
});

test('a spectator gets a state and no queue', () => {
  expect([state.queue_id, state.last_event_id]).toEqual([null, -1]);
  expect(state.zulip_feature_level).toBe(state.service_feature_level);
});

test('a spectator sees only web-public channels', () => {
  const names = (channels: Json[]) => channels.map((channel) => channel.name);
  expect(names(state.streams)).toEqual(['Web']);
  expect([...names(state.subscriptions), ...names(state.unsubscribed), ...names(state.never_subscribed)]).toEqual([
    'Web',
  ]);
});

test('a spectator sees users without addresses, presence and status', () => {
  const owner = state.realm_users.find((user: Json) => user.user_id === realm.owner.user_id);
  expect(owner.full_name).toBe(realm.owner.full_name);
  expect(JSON.stringify(state)).not.toContain(realm.owner.email);
  expect([state.presences, state.user_status]).toEqual([{}, {}]);
});

test('personal data in the state of a spectator is empty', () => {
  for (const key of [
    'alert_words',
    'drafts',
    'muted_topics',
    'muted_users',
    'navigation_views',
    'onboarding_steps',
    'realm_bots',
    'recent_private_conversations',
    'reminders',
    'saved_snippets',
    'scheduled_messages',
    'starred_messages',
    'user_topics',
    'realm_default_streams',
    'custom_profile_fields',
  ])
    expect(state[key], key).toEqual([]);
  expect(state.unread_msgs).toEqual({
    count: 0,
    pms: [],
    streams: [],
    huddles: [],
    mentions: [],
    old_unreads_missing: false,
  });
  expect([state.max_message_id, state.user_id, state.email, state.is_admin, state.is_guest]).toEqual([
    -1,
    -1,
    '',
    false,
    true,
  ]);
  expect([state.push_devices, state.devices]).toEqual([{}, {}]);
  expect(state.user_settings.twenty_four_hour_time).toBe(false);
});

test('client_gravatar and include_subscribers are rejected for a spectator', async () => {
  for (const form of [{ client_gravatar: true }, { include_subscribers: true }])
    expect((await realm.spectator.post('/register', form)).body.code).toBe('BAD_REQUEST');
  const { subscribers } = (await realm.spectator.ok('POST', '/register', { client_gravatar: false }))
    .never_subscribed[0];
  expect(subscribers).toBeUndefined();
});

test('a deactivated realm rejects spectators and members', async () => {
  const ended = await openRealm();
  await ended.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await ended.spectator.ok('POST', '/register');
  await ended.owner.ok('POST', '/realm/deactivate');
  expect((await ended.spectator.post('/register')).status).toBe(401);
  expect((await ended.spectator.get('/users')).status).toBe(401);
  expect((await ended.member.post('/register')).body.code).toBe('REALM_DEACTIVATED');
});

test('a spectator sees the day on which a bot joined, but not the time', async () => {
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const { cross_realm_bots } = await realm.spectator.ok('POST', '/register', { fetch_event_types: ['realm_user'] });
  expect(cross_realm_bots.length).toBeGreaterThan(0);
  for (const bot of cross_realm_bots) expect(bot.date_joined).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

/** Keys whose values contain data of an organization. Every other list and object is empty or a constant. */
const shownToSpectators = [
  'channel_folders',
  'cross_realm_bots',
  'never_subscribed',
  'realm_emoji',
  'realm_playgrounds',
  'realm_user_groups',
  'realm_user_settings_defaults',
  'realm_users',
  'streams',
];

test('a spectator does not see internal data of the organization', async () => {
  const { owner, member, spectator } = realm;
  const made = await openRealm();
  await made.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const before = await made.spectator.ok('POST', '/register');
  const folder = async (name: string): Promise<number> =>
    (await owner.ok('POST', '/channel_folders/create', { name, description: `about ${name}` })).channel_folder_id;
  const [press, internal] = [await folder('Press'), await folder('hush folder')];
  const subscribers = [owner.user_id];
  const channel = (form: Json) => owner.ok('POST', '/channels/create', { subscribers, ...form });
  await channel({ name: 'News', is_web_public: true, folder_id: press });
  await channel({ name: 'hush channel', folder_id: internal });
  await owner.ok('POST', '/user_groups/create', {
    name: 'hush group',
    description: 'hush',
    members: [member.user_id],
  });
  await owner.ok('POST', '/realm/domains', { domain: 'hush.example', allow_subdomains: false });
  await owner.ok('POST', '/realm/filters', { pattern: 'hush-(?P<id>[0-9]+)', url_template: 'https://hush.test/{id}' });
  const field = await owner.ok('POST', '/realm/profile_fields', { name: 'hush field', field_type: 1 });
  await member.ok('PATCH', '/users/me/profile_data', { data: [{ id: field.id, value: 'hush value' }] });
  await owner.ok('PATCH', '/realm', { welcome_message_custom_text: 'hush welcome' });

  const capabilities = { linkifier_url_template: true, include_deactivated_groups: true, archived_channels: true };
  const after = await spectator.ok('POST', '/register', { client_capabilities: capabilities });
  expect(JSON.stringify(after)).not.toContain('hush');
  expect(after.channel_folders.map(({ name }: Json) => name)).toEqual(['Press']);
  expect(after.realm_user_groups.length).toBeGreaterThan(0);
  expect(after.realm_user_groups.every((group: Json) => group.is_system_group)).toBe(true);
  const { members } = await spectator.ok('GET', '/users', { include_custom_profile_fields: true });
  expect(JSON.stringify(members)).not.toContain('hush');
  expect(JSON.stringify(await member.ok('POST', '/register', { client_capabilities: capabilities }))).toContain('hush');

  const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;
  const own = Object.keys(after).filter(
    (key) => isContainer(after[key]) && JSON.stringify(after[key]) !== JSON.stringify(before[key]),
  );
  expect(own.filter((key) => !shownToSpectators.includes(key))).toEqual([]);
});
