/** Private objects: no other user can read, change or remove them. */
import { expect, type Stage } from './stage.ts';

const refusal = ['BAD_REQUEST'];
const named = (stage: Stage, what: string): string => `${what}${stage.random.below(1e9)}`;

export async function collections(stage: Stage): Promise<void> {
  const [person, other] = [await stage.person('member'), await stage.person('member')];
  const { saved_snippet_id } = await stage.must(person, 'add-saved-snippet', { title: 't', content: 'c' });
  await stage.must(person, 'update-saved-snippet', { saved_snippet_id, title: 'u' });
  await stage.refused(other, 'update-saved-snippet', { saved_snippet_id, title: 'v' }, refusal);
  const { saved_snippets } = await stage.must(person, 'get-saved-snippets');
  expect(saved_snippets[0]?.title === 'u', `a renamed snippet is ${saved_snippets[0]?.title}`);
  await stage.must(person, 'remove-saved-snippet', { saved_snippet_id });
  const { device_id } = await stage.must(person, 'register-client-device');
  await stage.refused(other, 'remove-client-device', { device_id }, refusal);
  await stage.must(person, 'remove-client-device', { device_id });
  const token = Buffer.from(named(stage, 'token')).toString('base64');
  for (const [kind, values] of [
    ['apns-device-token', { token, appid: 'org.example' }],
    ['ios-device-token', { token, appid: 'org.example' }],
    ['android-gcm-reg-id', { token }],
    ['android-device-token', { token }],
  ] as const) {
    await stage.must(person, `add-${kind}`, values);
    await stage.refused(other, `remove-${kind}`, { token }, refusal);
    await stage.must(person, `remove-${kind}`, { token });
  }
  const key = Buffer.alloc(32, 'k').toString('base64');
  await stage.must(person, 'register-push-device', {
    push_account_id: 1 + stage.random.below(1e9),
    token_kind: 'fcm',
    push_public_key: key,
    bouncer_public_key: key,
    encrypted_push_registration: key,
  });
}

export async function profile(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('member')];
  const { id } = await stage.must(owner, 'create-profile-field', { name: named(stage, 'field '), field_type: 1 });
  await stage.must(person, 'update-own-profile-data', { data: [{ id, value: 'own text' }] });
  const asked = { user_id_or_email: String(person.user_id), include_custom_profile_fields: true };
  const { user } = await stage.must(owner, 'get-user', asked);
  expect(user.profile_data[id]?.value === 'own text', `a value of a field is ${user.profile_data[id]?.value}`);
  await stage.must(person, 'remove-own-profile-data', { data: [id] });
  await stage.must(owner, 'remove-profile-field', { field_id: id });
}

export async function social(stage: Stage): Promise<void> {
  const [owner, person, other] = [stage.owner, await stage.person('member'), await stage.person('member')];
  await stage.must(person, 'mute-user', { muted_user_id: other.user_id });
  await stage.refused(person, 'mute-user', { muted_user_id: other.user_id }, refusal);
  await stage.must(person, 'unmute-user', { muted_user_id: other.user_id });
  await stage.must(person, 'run-command', { command: '/ping' });
  await stage.must(owner, 'update-status', { user_id: person.user_id, status_text: 'away' });
  await stage.refused(other, 'update-status', { user_id: person.user_id, status_text: 'here' }, refusal);
  const { status } = await stage.must(other, 'get-status', { user_id: person.user_id });
  expect(status.status_text === 'away', `a status set by an administrator is ${status.status_text}`);
  await stage.must(person, 'update-presence', { status: 'active' });
  await stage.must(other, 'get-user-presence', { user_id_or_email: person.email });
  const fragment = 'narrow/topic/lunch';
  await stage.must(person, 'add-navigation-view', { fragment, is_pinned: true, name: 'mine' });
  await stage.must(person, 'update-navigation-view', { fragment, name: 'renamed' });
  const { navigation_views } = await stage.must(person, 'get-navigation-views');
  expect(navigation_views[0]?.name === 'renamed', `a renamed view is ${navigation_views[0]?.name}`);
  await stage.refused(other, 'remove-navigation-view', { fragment }, refusal);
  await stage.must(person, 'remove-navigation-view', { fragment });
}
