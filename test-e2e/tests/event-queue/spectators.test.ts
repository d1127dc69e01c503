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

test('a spectator sees channels that are open to the web alone', () => {
  const names = (channels: Json[]) => channels.map((channel) => channel.name);
  expect(names(state.streams)).toEqual(['Web']);
  expect([...names(state.subscriptions), ...names(state.unsubscribed), ...names(state.never_subscribed)]).toEqual([
    'Web',
  ]);
});

test('a spectator sees people without addresses and nothing of what they do', () => {
  const owner = state.realm_users.find((user: Json) => user.user_id === realm.owner.user_id);
  expect(owner.full_name).toBe(realm.owner.full_name);
  expect(JSON.stringify(state)).not.toContain(realm.owner.email);
  expect([state.presences, state.user_status]).toEqual([{}, {}]);
});

test('what is personal is empty', () => {
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

test('client_gravatar and include_subscribers are refused without an account', async () => {
  for (const form of [{ client_gravatar: true }, { include_subscribers: true }])
    expect((await realm.spectator.post('/register', form)).body.code).toBe('BAD_REQUEST');
  const { subscribers } = (await realm.spectator.ok('POST', '/register', { client_gravatar: false }))
    .never_subscribed[0];
  expect(subscribers).toBeUndefined();
});

test('a realm that ended is open to nobody', async () => {
  const ended = await openRealm();
  await ended.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await ended.spectator.ok('POST', '/register');
  await ended.owner.ok('POST', '/realm/deactivate');
  expect((await ended.spectator.post('/register')).status).toBe(401);
  expect((await ended.spectator.get('/users')).status).toBe(401);
  expect((await ended.member.post('/register')).body.code).toBe('REALM_DEACTIVATED');
});

test('a spectator is told no more of a bot than the day it came', async () => {
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const { cross_realm_bots } = await realm.spectator.ok('POST', '/register', { fetch_event_types: ['realm_user'] });
  expect(cross_realm_bots.length).toBeGreaterThan(0);
  for (const bot of cross_realm_bots) expect(bot.date_joined).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});
