import { type Client, type DocumentedOperation, documentedOperations, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let register: DocumentedOperation;

/** Something of everything that a register lists, so that no list is empty. */
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member, member2 } = realm;
  const found = (await documentedOperations(owner)).find(({ route }) => route === 'POST /register');
  if (!found) throw new Error('/register is not described');
  register = found;
  const subscribe = (name: string, principals: Client[]) =>
    owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: principals.map(({ user_id }) => user_id),
    });
  await subscribe('first', [owner, member, member2]);
  await subscribe('left', [owner, member]);
  await subscribe('others', [owner]);
  await member.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['left'] });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'first' });
  await owner.ok('POST', '/default_streams', { stream_id });
  await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await owner.ok('POST', '/realm/domains', { domain: 'natter.example', allow_subdomains: false });
  await owner.ok('POST', '/realm/filters', { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' });
  await owner.ok('POST', '/realm/playgrounds', {
    name: 'Play',
    pygments_language: 'Python',
    url_template: 'https://example.com/{code}',
  });
  await owner.ok('POST', '/realm/profile_fields', { field_type: 1, name: 'Nickname' });
  await owner.ok('POST', '/user_groups/create', { name: 'us', description: '', members: [member.user_id] });
  await member.ok('POST', '/bots', { full_name: 'Bot', short_name: 'bot' });
  await member.ok('POST', '/users/me/status', { status_text: 'here' });
  await member.ok('POST', '/users/me/presence', { status: 'active', new_user_input: true });
  await member.ok('POST', '/users/me/alert_words', { alert_words: ['word'] });
  await member.ok('POST', `/users/me/muted_users/${realm.guest.user_id}`);
  await member.ok('POST', '/saved_snippets', { title: 'Title', content: 'text' });
  await member.ok('POST', '/user_topics', { stream_id, topic: 'muted', visibility_policy: 1 });
  await member.ok('POST', '/drafts', {
    drafts: [{ type: 'stream', to: [stream_id], topic: 't', content: 'draft', timestamp: 1 }],
  });
  const due = Math.floor(Date.now() / 1_000) + 86_400;
  await member.ok('POST', '/scheduled_messages', {
    type: 'channel',
    to: stream_id,
    topic: 't',
    content: 'later',
    scheduled_delivery_timestamp: due,
  });
  const { id } = await member2.ok('POST', '/messages', { type: 'channel', to: 'first', topic: 't', content: 'hello' });
  await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'hello' });
  await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id, owner.user_id], content: 'hello' });
  await member.ok('POST', '/messages/flags', { op: 'add', flag: 'starred', messages: [id] });
  await member.ok('POST', '/reminders', { message_id: id, scheduled_delivery_timestamp: due });
});

const modern = {
  slim_presence: true,
  include_subscribers: 'partial',
  client_capabilities: {
    notification_settings_null: true,
    user_settings_object: true,
    include_deactivated_groups: true,
    empty_topic_name: true,
    archived_channels: true,
    linkifier_url_template: true,
    user_list_incomplete: true,
  },
};

test.each([
  ['a member', 'member', {}],
  ['a member of a current client', 'member', modern],
  ['the owner, with subscribers', 'owner', { include_subscribers: true }],
  ['a guest', 'guest', modern],
  ['a spectator', 'spectator', {}],
] as const)('every field in the state of %s is documented with its type', async (_, who, params) => {
  const answer = await realm[who].post('/register', params);
  expect([answer.status, register.problemOf(answer)]).toEqual([200, undefined]);
  expect(Object.keys(answer.body).length).toBeGreaterThan(150);
});

test('an undocumented field and a field of another type are detected', async () => {
  const answer = await realm.member.post('/register', {});
  for (const wrong of [{ realm_color: 'red' }, { realm_name: 7 }, { unread_msgs: [] }])
    expect(register.problemOf({ ...answer, body: { ...answer.body, ...wrong } })).toBeDefined();
});
