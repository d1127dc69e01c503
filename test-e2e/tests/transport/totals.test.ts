import { type Answer, type Client, copyRow, countOf, openRealm, type Realm, totalNames } from '@natter/testkit';
import { expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { uploadTo } from '../upload.ts';

/** Sends this many requests concurrently; returns the refused ones. */
async function atOnce(count: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  return answers.filter(({ status }) => status >= 300);
}

function expectRefused(refused: Answer[], count: number, text: RegExp): void {
  expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 400));
  for (const { body } of refused) expect(body.msg).toMatch(text);
}

interface Total {
  limit: number;
  what: string;
  /** Prepares a realm; returns a function that adds the next item. */
  open(realm: Realm): Promise<(index: number, headers?: Record<string, string>) => Promise<Answer>>;
  /** The counted rows, and the columns that differ in copies of the first row. */
  rows(realm: Realm): { table: string; where: string };
  differing?: Record<string, string>;
}

const base64 = Buffer.from('a key').toString('base64');
const sent = (who: Client): Promise<number> =>
  who.ok('POST', '/messages', { type: 'direct', to: [who.user_id], content: 'first' }).then(({ id }) => id);
const channelIn = async ({ owner }: Realm): Promise<number> => {
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'one' }] });
  return (await owner.ok('GET', '/get_stream_id', { stream: 'one' })).stream_id;
};
const soon = (): number => Math.floor(Date.now() / 1000) + 3_600;
const ofMember = (table: string) => (realm: Realm) => ({ table, where: `user_id = ${realm.member.user_id}` });
const ofRealm = (table: string) => (realm: Realm) => ({ table, where: `realm_id = ${realm.id}` });
const newest = (table: string) => (realm: Realm) => ({
  table,
  where: `realm_id = ${realm.id} ORDER BY message_id DESC`,
});
/** Adds groups with a member or a subgroup: the last one within the limit has a subgroup. */
const withSubgroup: Total['open'] = async ({ owner, member }) => {
  const inner = await owner.ok('POST', '/user_groups/create', { name: 'inner', description: '', members: [] });
  return (index) => {
    const content = index === 1 ? { members: [], subgroups: [inner.group_id] } : { members: [member.user_id] };
    return owner.post('/user_groups/create', { name: `group ${index}`, description: '', ...content });
  };
};
const uploadsOfLength = (length: string): Pick<Total, 'open' | 'rows' | 'differing'> => ({
  open: async (realm) => () => realm.member.post('/tus', {}, { 'upload-length': length }),
  rows: ({ member }) => ({ table: 'messaging.resumable_upload', where: `owner_id = ${member.user_id}` }),
  differing: { id: "'copy' || n" },
});

/**
 * The total that one user or one organization accumulates is limited, also under concurrent requests. Maximum sizes of the
 * collections, written by hand.
 */
const collections: Record<string, Total> = {
  alertWords: {
    limit: 1_000,
    what: 'alert words',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/users/me/alert_words', { alert_words: [`word ${index}`] }),
    rows: ofMember('users.alert_word'),
    differing: { word: "'copy ' || n" },
  },
  bots: {
    limit: 500,
    what: 'bots',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/bots', { full_name: `Bot ${index}`, short_name: `bot${index}` }),
    rows: ({ member }) => ({ table: 'users.account', where: `bot_owner_id = ${member.user_id}` }),
    differing: { email: "'copy' || n || t.email", full_name: "'Copy ' || n" },
  },
  botAccounts: {
    limit: 2_000,
    what: 'bots, including deactivated ones',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/bots', { full_name: `Bot ${index}`, short_name: `bot${index}` }),
    rows: ({ member }) => ({ table: 'users.account', where: `bot_owner_id = ${member.user_id}` }),
    differing: {
      email: "'copy' || n || t.email",
      full_name: "'Copy ' || n",
      is_active: 'false',
      joined_at: "now() - interval '2 days'",
    },
  },
  botsPerDay: {
    limit: 500,
    what: 'bots within a day',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/bots', { full_name: `Bot ${index}`, short_name: `bot${index}` }),
    rows: ({ member }) => ({ table: 'users.account', where: `bot_owner_id = ${member.user_id}` }),
    differing: { email: "'copy' || n || t.email", full_name: "'Copy ' || n", is_active: 'false' },
  },
  clientDevices: {
    limit: 100,
    what: 'devices',
    open:
      async ({ member }) =>
      () =>
        member.post('/register_client_device'),
    rows: ofMember('users.client_device'),
  },
  deviceTokens: {
    limit: 100,
    what: 'device tokens',
    open:
      async ({ member }) =>
      (index, headers) =>
        member.send('POST', '/users/me/android_gcm_reg_id', { token: `t${index}` }, headers),
    rows: ofMember('users.device_token'),
    differing: { token: "'copy' || n" },
  },
  drafts: {
    limit: 5_000,
    what: 'drafts',
    open:
      async ({ member }) =>
      () =>
        member.post('/drafts', { drafts: [{ type: '', to: [], topic: '', content: 'x' }] }),
    rows: ofMember('messaging.draft'),
  },
  mutedUsers: {
    limit: 5_000,
    what: 'muted users',
    open:
      async ({ member, owner, moderator, guest }) =>
      (index) =>
        member.post(`/users/me/muted_users/${[owner, moderator, guest][index]?.user_id}`),
    rows: ofMember('users.muted_user'),
    differing: { muted_user_id: '-n' },
  },
  navigationViews: {
    limit: 500,
    what: 'navigation views',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/navigation_views', { fragment: `narrow/${index}`, is_pinned: true, name: `View ${index}` }),
    rows: ofMember('users.navigation_view'),
    differing: { fragment: "'narrow/copy' || n", name: "'Copy ' || n" },
  },
  pushDevices: {
    limit: 100,
    what: 'push devices',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/mobile_push/register', {
          token_kind: 'fcm',
          push_account_id: index + 1,
          push_public_key: base64,
          bouncer_public_key: base64,
          encrypted_push_registration: base64,
        }),
    rows: ofMember('users.push_device'),
    differing: { push_account_id: 'n + 100' },
  },
  reminders: {
    limit: 1_000,
    what: 'reminders',
    open: async ({ member }) => {
      const message_id = await sent(member);
      return () => member.post('/reminders', { message_id, scheduled_delivery_timestamp: soon() });
    },
    rows: ofMember('messaging.scheduled_message'),
  },
  savedSnippets: {
    limit: 1_000,
    what: 'saved snippets',
    open:
      async ({ member }) =>
      (index) =>
        member.post('/saved_snippets', { title: `Snippet ${index}`, content: 'x' }),
    rows: ofMember('users.saved_snippet'),
  },
  scheduledMessages: {
    limit: 1_000,
    what: 'scheduled messages',
    open:
      async ({ member }) =>
      () =>
        member.post('/scheduled_messages', {
          type: 'direct',
          to: [member.user_id],
          content: 'later',
          scheduled_delivery_timestamp: soon(),
        }),
    rows: ofMember('messaging.scheduled_message'),
  },
  topicPreferences: {
    limit: 50_000,
    what: 'topic preferences',
    open: async (realm) => {
      const stream_id = await channelIn(realm);
      await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'one' }] });
      return (index) => realm.member.post('/user_topics', { stream_id, topic: `topic ${index}`, visibility_policy: 3 });
    },
    rows: ofMember('messaging.user_topic'),
    differing: { topic: "'copy ' || n", topic_key: "'copy ' || n" },
  },
  resumableUploads: { limit: 5_000, what: 'resumable uploads within a day', ...uploadsOfLength('0') },
  unfinishedUploads: { limit: 100, what: 'unfinished uploads', ...uploadsOfLength('1') },
  uploads: {
    limit: 50_000,
    what: 'uploaded files',
    open:
      async ({ member }) =>
      () =>
        uploadTo(member, '/user_uploads'),
    rows: ({ member }) => ({ table: 'messaging.attachment', where: `owner_id = ${member.user_id}` }),
    differing: { token: "'copy' || n || t.token" },
  },
  channelFolders: {
    limit: 1_000,
    what: 'channel folders',
    open:
      async ({ owner }) =>
      (index) =>
        owner.post('/channel_folders/create', { name: `Folder ${index}`, description: '' }),
    rows: ofRealm('channels.folder'),
    differing: { name: "'Copy ' || n" },
  },
  channels: {
    limit: 50_000,
    what: 'channels',
    open:
      async ({ owner }) =>
      (index) =>
        owner.post('/users/me/subscriptions', { subscriptions: [{ name: `channel ${index}` }] }),
    rows: ofRealm('channels.channel'),
    differing: { name: "'copy ' || n" },
  },
  channelDescriptions: {
    limit: 6_000,
    what: 'long descriptions of channels',
    open:
      async ({ owner }) =>
      (index) => {
        const subscriptions = [{ name: `channel ${index}`, description: 'long '.repeat(80) }];
        return owner.post('/users/me/subscriptions', { subscriptions });
      },
    rows: ({ id }) => ({ table: 'channels.channel', where: `realm_id = ${id} AND length(description) > 300` }),
    differing: { name: "'copy ' || n", description: "repeat('x', 301)", rendered_description: "repeat('x', 301)" },
  },
  defaultChannelGroups: {
    limit: 200,
    what: 'groups of default channels',
    open: async (realm) => {
      await channelIn(realm);
      return (index) =>
        realm.owner.post('/default_stream_groups/create', {
          group_name: `Group ${index}`,
          description: '',
          stream_names: ['one'],
        });
    },
    rows: ofRealm('channels.default_group'),
    differing: { name: "'Copy ' || n" },
  },
  emoji: {
    limit: 10_000,
    what: 'custom emoji',
    open:
      async ({ owner }) =>
      (index) =>
        uploadTo(owner, `/realm/emoji/emoji${index}`),
    rows: ofRealm('users.realm_emoji'),
    differing: { name: "'copy' || n" },
  },
  groups: {
    limit: 10_000,
    what: 'user groups',
    open: withSubgroup,
    // System groups count too.
    rows: (realm) => ({ table: 'users.user_group', where: `realm_id = ${realm.id} ORDER BY is_system` }),
    differing: { name: "'copy ' || n" },
  },
  groupMembers: {
    limit: 500_000,
    what: 'members of user groups',
    open: withSubgroup,
    rows: ({ id }) => ({
      table: 'users.group_member',
      where: `group_id IN (SELECT id FROM users.user_group WHERE realm_id = ${id} AND NOT is_system)`,
    }),
    differing: { user_id: '-n' },
  },
  invitations: {
    limit: 20_000,
    what: 'open or recent invitations',
    open:
      async ({ owner }) =>
      () =>
        owner.post('/invites/multiuse'),
    rows: ofRealm('users.invitation'),
    differing: { key: "'copy' || n || t.key" },
  },
  linkifiers: {
    limit: 200,
    what: 'linkifiers',
    open:
      async ({ owner }) =>
      (index) =>
        owner.post('/realm/filters', { pattern: `p${index}`, url_template: 'https://x.example' }),
    rows: ofRealm('users.linkifier'),
    differing: { pattern: "'copy' || n" },
  },
  playgrounds: {
    limit: 200,
    what: 'playgrounds',
    open:
      async ({ owner }) =>
      (index, headers) => {
        const form = { name: `p${index}`, pygments_language: 'Python', url_template: 'https://x.example/{code}' };
        return owner.send('POST', '/realm/playgrounds', form, headers);
      },
    rows: ofRealm('users.playground'),
    differing: { name: "'copy' || n" },
  },
  profileFields: {
    limit: 100,
    what: 'custom profile fields',
    open:
      async ({ owner }) =>
      (index, headers) =>
        owner.send('POST', '/realm/profile_fields', { name: `field ${index}`, field_type: 1 }, headers),
    rows: ofRealm('users.profile_field'),
    differing: { name: "'copy ' || n" },
  },
  realmDomains: {
    limit: 500,
    what: 'domains',
    open:
      async ({ owner }) =>
      (index) =>
        owner.post('/realm/domains', { domain: `d${index}.example`, allow_subdomains: false }),
    rows: ofRealm('users.realm_domain'),
    differing: { domain: "'copy' || n || '.example'" },
  },
  edits: {
    limit: 1_000,
    what: 'edits of a message',
    open: async ({ member }) => {
      const id = await sent(member);
      return (index) => member.patch(`/messages/${id}`, { content: `edit ${index}` });
    },
    rows: newest('messaging.message_edit'),
  },
  reactions: {
    limit: 5_000,
    what: 'reactions to a message',
    open: async ({ member }) => {
      const id = await sent(member);
      const names = ['smile', 'heart', 'tada'];
      return (index) => member.post(`/messages/${id}/reactions`, { emoji_name: names[index] });
    },
    rows: newest('messaging.reaction'),
    differing: { user_id: '-n' },
  },
  submessages: {
    limit: 10_000,
    what: 'submessages of a message',
    open: async ({ member }) => {
      const form = { type: 'direct', to: [member.user_id], content: '/poll Lunch?\n- pizza' };
      const { id: message_id } = await member.ok('POST', '/messages', form);
      const content = JSON.stringify({ type: 'vote', key: 'canned,0', vote: 1 });
      return () => member.post('/submessage', { message_id, msg_type: 'widget', content });
    },
    rows: newest('messaging.submessage'),
  },
};

test('each limit of the contract has a test in this file', () => {
  expect(Object.keys(collections).sort()).toEqual(totalNames().sort());
});

test.each(Object.entries(collections))(
  '%s: the last item within the limit is accepted, and one more is rejected',
  async (_, total) => {
    const own = await openRealm();
    const add = await total.open(own);
    expect((await untilServed(() => add(0))).status).toBeLessThan(300);
    const { table, where } = total.rows(own);
    const before = await countOf(table, where.replace(/ ORDER BY.*/, ''));
    await copyRow({ table, where }, total.limit - before - 1, total.differing ?? {});
    const [last, more] = [await untilServed(() => add(1)), await untilServed(() => add(2))];
    expect([last.status < 300, last.body.msg]).toEqual([true, '']);
    expect([more.status, more.body.msg]).toEqual([400, `Too many ${total.what} (limit: ${total.limit})`]);
  },
);

test.each([
  ['playgrounds', 200],
  ['profileFields', 100],
  ['deviceTokens', 100],
])('%s: concurrent requests do not exceed the limit', async (name, limit) => {
  const total = collections[name] as Total;
  const add = await total.open(await openRealm());
  // A busy system refuses some for now. Clients repeat those under their keys.
  const addPatiently = async (index: number): Promise<Answer> => {
    for (;;) {
      const answer = await add(index, { 'idempotency-key': `${name} ${index}` });
      if (answer.status !== 503) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Math.random()));
    }
  };
  expectRefused(await atOnce(limit + 7, addPatiently), 7, new RegExp(`Too many ${total.what} \\(limit: ${limit}\\)`));
});
