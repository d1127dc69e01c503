import {
  type Client,
  differingCopies,
  eventsNotEmitted,
  type Json,
  openRealm,
  type Realm,
  undeclaredColumns,
} from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { uploadTo } from '../upload.ts';

let realm: Realm;
const made: Record<string, number> = {};

const groupId = async (name: string): Promise<number> => {
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  return user_groups.find((group: Json) => group.name === name).id;
};
const subscribe = (...names: string[]) =>
  realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: names.map((name) => ({ name })),
    principals: [realm.owner.user_id, realm.member.user_id, realm.guest.user_id],
  });
const channel = async (name: string) => (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
const change = (form: Json) => realm.owner.ok('PATCH', `/streams/${made.channel}`, form);
const group = (path: string, form: Json) => realm.owner.ok('POST', `/user_groups/${made.group}${path}`, form);
const mayMention = ({ user_id }: Client) => {
  const value = { direct_members: [user_id], direct_subgroups: [] };
  return realm.owner.ok('PATCH', `/user_groups/${made.group}`, { can_mention_group: { new: value } });
};
const settings = (form: Json) => realm.member.ok('PATCH', '/settings', form);
const mute = (value: boolean) =>
  realm.member.ok('POST', '/users/me/subscriptions/properties', {
    subscription_data: [{ stream_id: made.channel, property: 'is_muted', value }],
  });
const upload = async (who: Client, path: string) => {
  const { status, body } = await uploadTo(who, path);
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
};
const inRealm = (form: Json) => realm.owner.ok('PATCH', '/realm', form);

/** The steps, performed one after another in one realm. */
const steps: [string, () => Promise<unknown>][] = [
  [
    'channels are created',
    async () => {
      await subscribe('one', 'two');
      made.channel = await channel('one');
    },
  ],
  ['a channel is renamed', () => change({ new_name: 'uno' })],
  ['another channel takes the freed name', () => subscribe('one')],
  [
    'channels exchange names',
    async () => {
      await change({ new_name: 'aside' });
      await realm.owner.ok('PATCH', `/streams/${await channel('one')}`, { new_name: 'uno' });
      await change({ new_name: 'one' });
    },
  ],
  ['a channel becomes private', () => change({ is_private: true, history_public_to_subscribers: false })],
  ['its history is shared', () => change({ is_private: true, history_public_to_subscribers: true })],
  ['it is public again', () => change({ is_private: false })],
  ['it is muted', () => mute(true)],
  ['somebody leaves it', () => realm.member.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['one'] })],
  ['they come back', () => subscribe('one')],
  ['it is heard again', () => mute(false)],
  ['it is archived', () => realm.owner.ok('DELETE', `/streams/${made.channel}`)],
  ['it is brought back', () => change({ is_archived: false })],

  ['somebody is muted', () => realm.member.ok('POST', `/users/me/muted_users/${realm.member2.user_id}`)],
  ['and no more', () => realm.member.ok('DELETE', `/users/me/muted_users/${realm.member2.user_id}`)],
  ['alert words', () => realm.member.ok('POST', '/users/me/alert_words', { alert_words: ['Tea', 'two words'] })],
  ['one word less', () => realm.member.ok('DELETE', '/users/me/alert_words', { alert_words: ['Tea'] })],
  ['a picture', () => upload(realm.member, '/users/me/avatar')],
  ['and none', () => realm.member.ok('DELETE', '/users/me/avatar')],
  ['a hidden address', () => settings({ email_address_visibility: 4 })],
  ['a shown address', () => settings({ email_address_visibility: 1 })],
  [
    'settings',
    () =>
      settings({
        enable_drafts_synchronization: false,
        send_stream_typing_notifications: false,
        send_private_typing_notifications: false,
        receives_typing_notifications: false,
        send_read_receipts: false,
        translate_emoticons: true,
        automatically_follow_topics_where_mentioned: false,
        automatically_follow_topics_policy: 1,
        automatically_unmute_topics_in_muted_streams_policy: 1,
        resolved_topic_notice_auto_read_policy: 'always',
        presence_enabled: false,
        enable_stream_email_notifications: true,
      }),
  ],
  ['a setting as it was', () => settings({ translate_emoticons: false, presence_enabled: true })],

  [
    'a group',
    async () => {
      const form = { name: 'crew', description: '', members: [realm.member.user_id] };
      made.group = (await realm.owner.ok('POST', '/user_groups/create', form)).group_id;
    },
  ],
  ['more members', () => group('/members', { add: [realm.member2.user_id, realm.guest.user_id] })],
  ['fewer members', () => group('/members', { delete: [realm.member2.user_id] })],
  ['a subgroup', async () => group('/subgroups', { add: [await groupId('role:moderators')] })],
  ['no subgroup', async () => group('/subgroups', { delete: [await groupId('role:moderators')] })],
  [
    'another name and permission',
    async () =>
      realm.owner.ok('PATCH', `/user_groups/${made.group}`, {
        name: 'team',
        can_mention_group: { new: await groupId('role:members') },
      }),
  ],
  ['the group is deactivated', () => group('/deactivate', {})],
  ['the group is back', () => realm.owner.ok('PATCH', `/user_groups/${made.group}`, { deactivated: false })],

  [
    'a bot',
    async () => {
      const form = { full_name: 'Helper', short_name: 'helper', bot_type: 1 };
      made.bot = (await realm.member.ok('POST', '/bots', form)).user_id;
    },
  ],
  [
    'an outgoing webhook bot',
    async () => {
      const form = { full_name: 'Hook', short_name: 'hook', bot_type: 3, payload_url: 'https://hooks.example/' };
      await realm.member.ok('POST', '/bots', form);
    },
  ],
  ['of another owner', () => realm.owner.ok('PATCH', `/bots/${made.bot}`, { bot_owner_id: realm.member2.user_id })],
  ['a name', () => realm.owner.ok('PATCH', `/users/${realm.member.user_id}`, { full_name: 'Ada' })],
  ['a role', () => realm.owner.ok('PATCH', `/users/${realm.member2.user_id}`, { role: 300 })],
  ['a user may mention the group', () => mayMention(realm.member)],
  ['an account is deactivated', () => realm.owner.ok('DELETE', `/users/${realm.member.user_id}`)],
  ['another user may mention the group', () => mayMention(realm.member2)],
  ['the group is deactivated again', () => group('/deactivate', {})],
  ['the group is back again', () => realm.owner.ok('PATCH', `/user_groups/${made.group}`, { deactivated: false })],
  ['an account is back', () => realm.owner.ok('POST', `/users/${realm.member.user_id}/reactivate`)],

  [
    'linkifiers',
    async () => {
      const add = (pattern: string, url_template: string) =>
        realm.owner.ok('POST', '/realm/filters', { pattern, url_template });
      made.first = (await add('#(?P<id>[0-9]+)', 'https://a.example/{id}')).id;
      made.second = (await add('PR(?P<id>[0-9]+)', 'https://b.example/{id}')).id;
    },
  ],
  [
    'another order',
    () => realm.owner.ok('PATCH', '/realm/linkifiers', { ordered_linkifier_ids: [made.second, made.first] }),
  ],
  ['one less', () => realm.owner.ok('DELETE', `/realm/filters/${made.second}`)],
  ['an emoji', () => upload(realm.owner, '/realm/emoji/party')],
  ['no emoji', () => realm.owner.ok('DELETE', '/realm/emoji/party')],
  [
    'settings of the realm',
    () =>
      inRealm({
        send_channel_events_messages: false,
        welcome_message_custom_text: 'Hi',
        signup_announcements_stream_id: made.channel,
        new_stream_announcements_stream_id: made.channel,
        presence_disabled: true,
      }),
  ],
  ['settings that change together', () => inRealm({ allow_message_editing: false })],
  ['settings as they were', () => inRealm({ send_channel_events_messages: true, presence_disabled: false })],
  [
    'no channel for announcements, since it is archived',
    async () => {
      const { id } = await realm.owner.ok('POST', '/channels/create', { name: 'announcements', subscribers: [] });
      await inRealm({ signup_announcements_stream_id: id });
      await realm.owner.ok('DELETE', `/streams/${id}`);
    },
  ],
  [
    'defaults for new people',
    () =>
      realm.owner.ok('PATCH', '/realm/user_settings_defaults', {
        email_address_visibility: 3,
        send_read_receipts: false,
        enable_stream_push_notifications: true,
      }),
  ],
  ['a newcomer', () => realm.person()],

  ['guests see few', async () => inRealm({ can_access_all_users_group: { new: await groupId('role:members') } })],
  [
    'somebody writes to a guest',
    () => realm.moderator.ok('POST', '/messages', { type: 'direct', to: [realm.guest.user_id], content: 'hello' }),
  ],
  ['a guest leaves', () => realm.guest.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['one'] })],
  ['a guest comes back', () => subscribe('one')],
  ['guests see all', async () => inRealm({ can_access_all_users_group: { new: await groupId('role:everyone') } })],
];

beforeAll(async () => {
  realm = await openRealm();
});

test('after each change every copy equals its source, and each event type that copies use occurs', async () => {
  for (const [what, step] of steps) {
    await step();
    // Consumers follow a moment later.
    await expect.poll(() => differingCopies(realm.id), { message: what }).toEqual([]);
  }
  expect(await eventsNotEmitted(realm.id)).toEqual([]);
});

test('every column of a copy is declared', async () => {
  expect(await undeclaredColumns()).toEqual([]);
});
