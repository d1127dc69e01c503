import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
});

const refused = ({ status, body }: Json): Json => [status, body.code];

/** Name, default, another valid value, an invalid one. Written by hand. */
const settings: [string, Json, Json, Json][] = [
  ['twenty_four_hour_time', false, true, 'soon'],
  ['starred_message_counts', true, false, 1],
  ['receives_typing_notifications', true, false, 2],
  ['web_suggest_update_timezone', true, false, 'x'],
  ['fluid_layout_width', false, true, 'x'],
  ['high_contrast_mode', false, true, 'x'],
  ['enable_drafts_synchronization', true, false, 'x'],
  ['translate_emoticons', false, true, 'x'],
  ['display_emoji_reaction_users', true, false, 'x'],
  ['web_escape_navigates_to_home_view', true, false, 'x'],
  ['left_side_userlist', false, true, 'x'],
  ['hide_ai_features', false, true, 'x'],
  ['enable_stream_desktop_notifications', false, true, 'x'],
  ['enable_stream_email_notifications', false, true, 'x'],
  ['enable_stream_push_notifications', false, true, 'x'],
  ['enable_stream_audible_notifications', false, true, 'x'],
  ['enable_desktop_notifications', true, false, 'x'],
  ['enable_sounds', true, false, 'x'],
  ['enable_offline_email_notifications', true, false, 'x'],
  ['enable_offline_push_notifications', true, false, 'x'],
  ['enable_online_push_notifications', true, false, 'x'],
  ['enable_followed_topic_desktop_notifications', true, false, 'x'],
  ['enable_followed_topic_email_notifications', true, false, 'x'],
  ['enable_followed_topic_push_notifications', true, false, 'x'],
  ['enable_followed_topic_audible_notifications', true, false, 'x'],
  ['enable_digest_emails', true, false, 'x'],
  ['web_channel_default_view', 1, 3, 5],
  ['web_font_size_px', 16, 18, 'big'],
  ['web_line_height_percent', 140, 120, 'x'],
  ['color_scheme', 1, 2, 4],
  ['web_home_view', 'inbox', 'recent_topics', 'outbox'],
  ['emojiset', 'google', 'set_b', 'none'],
  ['demote_inactive_streams', 1, 3, 0],
  ['user_list_style', 3, 1, 4],
  ['web_animate_image_previews', 'on_hover', 'never', 'x'],
  ['web_stream_unreads_count_display_policy', 2, 3, 4],
  ['notification_sound', 'zulip', 'ding', 'gong'],
  ['email_notifications_batching_period_seconds', 120, 60, 0],
  ['message_content_in_email_notifications', true, false, 'x'],
  ['pm_content_in_desktop_notifications', true, false, 'x'],
  ['wildcard_mentions_notify', true, false, 'x'],
  ['enable_followed_topic_wildcard_mentions_notify', true, false, 'x'],
  ['desktop_icon_count_display', 1, 4, 5],
  ['realm_name_in_email_notifications_policy', 1, 3, 4],
  ['automatically_follow_topics_policy', 3, 4, 5],
  ['automatically_unmute_topics_in_muted_streams_policy', 2, 1, 0],
  ['automatically_follow_topics_where_mentioned', true, false, 'x'],
  ['resolved_topic_notice_auto_read_policy', 'except_followed', 'always', 'x'],
  ['presence_enabled', true, false, 'x'],
  ['enter_sends', false, true, 'x'],
  ['send_private_typing_notifications', true, false, 'x'],
  ['send_stream_typing_notifications', true, false, 'x'],
  ['send_read_receipts', true, false, 'x'],
  ['email_address_visibility', 1, 3, 6],
  ['web_navigate_to_sent_message', true, false, 'x'],
];
const ownOnly: [string, Json, Json, Json][] = [
  ['timezone', '', 'Europe/Berlin', 'Mars/Olympus'],
  ['default_language', 'en', 'de', 'tlh'],
  ['enable_marketing_emails', true, false, 'x'],
  ['enable_login_emails', true, false, 'x'],
];

test('every setting has a default, accepts only valid values, and sends its event to its user only', async () => {
  const person = await realm.person();
  const queue = await person.queue({ event_types: ['user_settings'], fetch_event_types: ['user_settings'] });
  const others = await realm.member.queue({ event_types: ['user_settings', 'message'] });
  for (const [name, initial, other, wrong] of [...settings, ...ownOnly]) {
    expect([name, queue.state.user_settings[name]]).toEqual([name, initial]);
    expect([name, ...refused(await person.patch('/settings', { [name]: wrong }))]).toEqual([name, 400, 'BAD_REQUEST']);
    const { body } = await person.patch('/settings', { [name]: other });
    expect([name, body]).toEqual([name, { result: 'success', msg: '' }]);
    const event = await queue.next(({ property }) => property === name);
    expect(event).toMatchObject({ type: 'user_settings', op: 'update', value: other });
  }
  const state = await person.ok('POST', '/register', { fetch_event_types: ['user_settings'] });
  for (const [name, , other] of [...settings, ...ownOnly])
    expect([name, state.user_settings[name]]).toEqual([name, other]);
  expect((await others.settle()).filter(({ type }) => type === 'user_settings')).toEqual([]);
});

test('unknown and unchanged parameters are listed, and unchanged values do not send events', async () => {
  const person = await realm.person();
  const answer = await person.ok('PATCH', '/settings', { enter_sends: false, dense_mode: true, color_scheme: 2 });
  expect(answer.ignored_parameters_unsupported.toSorted()).toEqual(['dense_mode', 'enter_sends']);
  const queue = await person.queue({ event_types: ['user_settings', 'message'] });
  const again = await person.ok('PATCH', '/settings', { color_scheme: 2, full_name: person.full_name });
  expect(again.ignored_parameters_unsupported.toSorted()).toEqual(['color_scheme', 'full_name']);
  expect((await queue.settle()).filter(({ type }) => type === 'user_settings')).toEqual([]);
});

test('the deprecated operations change the same settings, and accept strings as JSON', async () => {
  const person = await realm.person();
  await person.ok('PATCH', '/settings/display', { web_home_view: '"all_messages"' });
  await person.ok('PATCH', '/settings/notifications', { enable_sounds: false });
  const { user_settings } = await person.ok('POST', '/register', { fetch_event_types: ['user_settings'] });
  expect(user_settings).toMatchObject({ web_home_view: 'all_messages', enable_sounds: false });
});

test('clients without user_settings_object get the legacy events and flat keys, others do not', async () => {
  const person = await realm.person();
  const types = ['update_display_settings', 'update_global_notifications', 'user_settings', 'message'];
  const old = await person.queue({ event_types: types });
  const modern = await person.queue({ event_types: types, client_capabilities: { user_settings_object: true } });
  expect(old.state).toMatchObject({ twenty_four_hour_time: false, enable_sounds: true });
  expect(modern.state).not.toHaveProperty('twenty_four_hour_time');
  expect(modern.state).not.toHaveProperty('enable_sounds');
  await person.ok('PATCH', '/settings', { twenty_four_hour_time: true, default_language: 'ja', enable_sounds: false });
  const events = await old.settle();
  expect(events.find((event) => event.setting_name === 'default_language')).toMatchObject({
    type: 'update_display_settings',
    user: person.email,
    setting: 'ja',
    language_name: '日本語',
  });
  expect(events.find((event) => event.type === 'update_global_notifications')).toMatchObject({
    notification_name: 'enable_sounds',
    setting: false,
  });
  const kinds = (await modern.settle()).map(({ type }) => type).filter((type) => type !== 'message');
  expect(kinds).toEqual(['user_settings', 'user_settings', 'user_settings']);
});

test('administrators can change the realm defaults, which are sent to all users and apply to new users only', async () => {
  for (const client of [realm.moderator, realm.member, realm.guest])
    expect(refused(await client.patch('/realm/user_settings_defaults', { enter_sends: true }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  const queue = await realm.guest.queue({
    event_types: ['realm_user_settings_defaults'],
    fetch_event_types: ['realm_user_settings_defaults', 'user_settings'],
  });
  for (const [name, initial, other, wrong] of settings) {
    expect([name, queue.state.realm_user_settings_defaults[name]]).toEqual([name, initial]);
    expect([name, ...refused(await realm.owner.patch('/realm/user_settings_defaults', { [name]: wrong }))]).toEqual([
      name,
      400,
      'BAD_REQUEST',
    ]);
    await realm.administrator.ok('PATCH', '/realm/user_settings_defaults', { [name]: other });
    expect(await queue.next(({ property }) => property === name)).toMatchObject({ op: 'update', value: other });
  }
  const answer = await realm.owner.ok('PATCH', '/realm/user_settings_defaults', { timezone: 'UTC', nonsense: 1 });
  expect(answer.ignored_parameters_unsupported.toSorted()).toEqual(['nonsense', 'timezone']);
  const newcomer = await realm.person();
  const fetch = { fetch_event_types: ['user_settings'] };
  const { user_settings } = await newcomer.ok('POST', '/register', fetch);
  for (const [name, , other] of settings) expect([name, user_settings[name]]).toEqual([name, other]);
  expect((await realm.guest.ok('POST', '/register', fetch)).user_settings.enter_sends).toBe(false);
  for (const [name, initial] of settings)
    await realm.owner.ok('PATCH', '/realm/user_settings_defaults', { [name]: initial });
});

test('a name change is sent to all users, and is ignored for members if the realm disables name changes', async () => {
  const person = await realm.person();
  const queue = await realm.guest.queue({ event_types: ['realm_user'] });
  await person.ok('PATCH', '/settings', { full_name: ' New Name ' });
  expect((await queue.next((event) => event.person.full_name)).person).toEqual({
    user_id: person.user_id,
    full_name: 'New Name',
  });
  for (const full_name of ['x', 'a'.repeat(101), 'a*b', 'two|12', 'a@b'])
    expect(refused(await person.patch('/settings', { full_name }))).toEqual([400, 'BAD_REQUEST']);
  await realm.owner.ok('PATCH', '/realm', { name_changes_disabled: true });
  const answer = await person.ok('PATCH', '/settings', { full_name: 'Other', twenty_four_hour_time: true });
  expect(answer.ignored_parameters_unsupported).toEqual(['full_name']);
  expect((await person.ok('GET', '/users/me')).full_name).toBe('New Name');
  const { user_settings } = await person.ok('POST', '/register', { fetch_event_types: ['user_settings'] });
  expect(user_settings.twenty_four_hour_time).toBe(true);
  await realm.administrator.ok('PATCH', '/settings', { full_name: 'Ada Admin' });
  await realm.owner.ok('PATCH', '/realm', { name_changes_disabled: false });
});

test('a password change requires the old password and revokes all other keys', async () => {
  const person = await realm.person();
  const fresh = 'another fine password';
  for (const form of [
    { new_password: fresh },
    { new_password: fresh, old_password: 'wrong one' },
    { new_password: 'short', old_password: person.password },
  ])
    expect(refused(await person.patch('/settings', form))).toEqual([400, 'BAD_REQUEST']);
  const login = (password: string) => realm.spectator.post('/fetch_api_key', { username: person.email, password });
  const other = new Client(person, { ...person, api_key: (await login(person.password)).body.api_key });
  const queue = await other.queue({ event_types: ['typing'] });
  const held = other.get('/events', { queue_id: queue.id, last_event_id: -1 });
  await person.ok('PATCH', '/settings', { new_password: fresh, old_password: person.password });
  expect((await person.get('/users/me')).status).toBe(200);
  // A held poll is answered, and the next is refused.
  expect((await held).body.events ?? []).toEqual([]);
  expect((await other.get('/events', { queue_id: queue.id, last_event_id: -1 })).status).toBe(401);
  expect((await other.get('/users/me')).status).toBe(401);
  expect(refused(await login(person.password))).toEqual([401, 'AUTHENTICATION_FAILED']);
  expect((await login(fresh)).status).toBe(200);
});

test('a new address requires the password, and an account without a password gets instructions to set one', async () => {
  const person = await realm.person();
  const email = `wanted${person.user_id}@${realm.host}`;
  for (const form of [{ email }, { email, old_password: 'wrong one' }])
    expect(refused(await person.patch('/settings', form))).toEqual([400, 'BAD_REQUEST']);
  await person.ok('PATCH', '/settings', { email, old_password: person.password });
  await person.ok('PATCH', '/settings', { email: person.email });
  const without = await realm.person({ hasPassword: false });
  const { status, body } = await without.patch('/settings', { email: `x${email}`, old_password: 'anything' });
  expect([status, body.msg]).toEqual([400, expect.stringContaining('/accounts/password/reset')]);
});

test('bots cannot change settings', async () => {
  const { user_id, api_key } = await realm.member.ok('POST', '/bots', {
    full_name: 'Setting Bot',
    short_name: 'setting',
  });
  const { user } = await realm.member.ok('GET', `/users/${user_id}`);
  const authorization = authorizationOf({ email: user.email, api_key });
  const answer = await realm.spectator.patch('/settings', { enter_sends: true }, { authorization });
  expect(refused(answer)).toEqual([400, 'BAD_REQUEST']);
});

test('commands change the display settings, and unknown commands are rejected', async () => {
  const person = await realm.person();
  const queue = await person.queue({
    event_types: ['user_settings'],
    client_capabilities: { user_settings_object: true },
  });
  const run = async (command: string) => (await person.ok('POST', '/zcommand', { command })).msg;
  expect(await run('/ping')).toBe('');
  expect(await run('/dark')).toContain('/light');
  expect(await queue.next(() => true)).toMatchObject({ property: 'color_scheme', value: 2 });
  expect(await run('/night')).toBe('You are still in dark theme.');
  await run('/day');
  await run('/fluid-width');
  await run('/fixed-width');
  await queue.next((event) => event.property === 'fluid_layout_width' && event.value === false);
  expect(queue.seen.map(({ property, value }) => [property, value])).toEqual([
    ['color_scheme', 2],
    ['color_scheme', 3],
    ['fluid_layout_width', true],
    ['fluid_layout_width', false],
  ]);
  for (const command of ['ping', '/nothing', ''])
    expect(refused(await person.post('/zcommand', { command }))).toEqual([400, 'BAD_REQUEST']);
});

test('administrators can read who agrees to an export of private data, and receive events about it', async () => {
  const person = await realm.person();
  const [told, not] = [await realm.administrator.queue(), await realm.member.queue()];
  await person.ok('PATCH', '/settings', { allow_private_data_export: true });
  const isConsent = ({ type }: Json): boolean => type === 'realm_export_consent';
  expect(await told.next(isConsent)).toMatchObject({ user_id: person.user_id, consented: true });
  expect((await not.settle()).filter(isConsent)).toEqual([]);
  const { export_consents } = await realm.owner.ok('GET', '/export/realm/consents');
  expect(export_consents).toContainEqual({ user_id: person.user_id, consented: true });
  expect(export_consents).toContainEqual({ user_id: realm.guest.user_id, consented: false });
  expect(refused(await realm.moderator.get('/export/realm/consents'))).toEqual([400, 'BAD_REQUEST']);
});
