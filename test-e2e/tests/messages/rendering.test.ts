import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let talkId: number;
beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'Talk' }],
    principals: [realm.owner, realm.member, realm.member2].map((person) => person.user_id),
  });
  talkId = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'Talk' })).stream_id;
});

const post = async (who: Client, to: unknown, topic: string, content: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic, content })).id;
const shown = async (who: Client, content: string): Promise<string> => {
  const id = await post(who, 'Talk', 'rendering', content);
  return (await who.ok('GET', `/messages/${id}`)).message.content;
};

test('a topic link ignores case and points to the latest message, or to the name alone of an unknown topic', async () => {
  await post(realm.member, 'Talk', 'Plans', 'first');
  const latest = await post(realm.member2, 'Talk', 'plans', 'second');
  const link = (topic: string, href: string) =>
    `<p><a class="stream-topic" data-stream-id="${talkId}" href="/#narrow/channel/${talkId}-Talk/topic/${href}">#Talk &gt; ${topic}</a></p>`;
  expect(await shown(realm.owner, '#**Talk>Plans**')).toBe(link('Plans', `Plans/with/${latest}`));
  expect(await shown(realm.owner, '#**Talk>PLANS**')).toBe(link('PLANS', `PLANS/with/${latest}`));
  expect(await shown(realm.owner, '#**Talk>nothing yet**')).toBe(link('nothing yet', 'nothing.20yet'));
  expect(await shown(realm.owner, '#**talk>Plans**')).toBe('<p>#<strong>talk&gt;Plans</strong></p>');
});

test('a channel with > in its name is linked, unless the text before it names another channel', async () => {
  const { owner } = realm;
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'sea > sky' }, { name: 'Talk>Plans' }] });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'sea > sky' });
  expect(await shown(owner, '#**sea > sky**')).toBe(
    `<p><a class="stream" data-stream-id="${stream_id}" href="/#narrow/channel/${stream_id}-sea-.3E-sky">#sea &gt; sky</a></p>`,
  );
  expect(await shown(owner, '#**Talk>Plans**')).toContain(`<a class="stream-topic" data-stream-id="${talkId}"`);
});

test('a topic link does not reveal messages that its author may not see', async () => {
  const { owner, member } = realm;
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'guarded' }],
    invite_only: true,
    history_public_to_subscribers: false,
  });
  const before = await post(owner, 'guarded', 'secret', 'before');
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'guarded' }],
    principals: [member.user_id],
  });
  const link = '#**guarded>secret**';
  expect(await shown(owner, link)).toContain(`/topic/secret/with/${before}"`);
  expect(await shown(member, link)).toMatch(/\/topic\/secret"/);
  const after = await post(owner, 'guarded', 'secret', 'after');
  expect(await shown(member, link)).toContain(`/topic/secret/with/${after}"`);
});

test('names and topics are looked up however often others are named before them', async () => {
  const { owner, member } = realm;
  const mention = `@**${member.full_name}**`;
  expect(await shown(owner, `${'@**x** '.repeat(501)}${mention}`)).toContain(`data-user-id="${member.user_id}"`);
  await post(owner, 'Talk', 'often', 'x');
  const latest = await post(owner, 'Talk', 'once', 'x');
  expect(await shown(owner, `${'#**Talk>often** '.repeat(51)}#**Talk>once**`)).toContain(`/topic/once/with/${latest}"`);
});

test('deactivated users and groups are shown by name, but not notified', async () => {
  const { owner, member } = realm;
  const { group_id } = await owner.ok('POST', '/user_groups/create', {
    name: 'former crew',
    description: '',
    members: [member.user_id],
  });
  await owner.ok('POST', `/user_groups/${group_id}/deactivate`);
  const person = await realm.person();
  await owner.ok('DELETE', `/users/${person.user_id}`);
  const id = await post(owner, 'Talk', 'former', `@**${person.full_name}** @*former crew*`);
  const { message } = await member.ok('GET', `/messages/${id}`);
  expect(message.content).toBe(
    `<p><span class="user-mention silent" data-user-id="${person.user_id}">${person.full_name}</span> <span class="user-group-mention silent" data-user-group-id="${group_id}">former crew</span></p>`,
  );
  expect(message.flags).not.toContain('mentioned');
});

test('system groups are shown by their display name', async () => {
  const groups: Json[] = (await realm.owner.ok('GET', '/user_groups')).user_groups;
  const members = groups.find((group) => group.name === 'role:members');
  expect(await shown(realm.member, '@_*role:members*')).toBe(
    `<p><span class="user-group-mention silent" data-user-group-id="${members?.id}">Members</span></p>`,
  );
});

test('/me is recognized in content with several lines or a list', async () => {
  const isMe = async (content: string): Promise<boolean> => {
    const id = await post(realm.member, 'Talk', 'me', content);
    return (await realm.owner.ok('GET', `/messages/${id}`)).message.is_me_message;
  };
  expect(await isMe('/me waves\nand leaves')).toBe(true);
  expect(await isMe('/me waves\n\nand leaves')).toBe(true);
  expect(await isMe('/me packs\n- a bag')).toBe(true);
  expect(await isMe('I use /me')).toBe(false);
});

test('content and topics over their limit are truncated in messages, edits, schedules and drafts', async () => {
  const { member } = realm;
  const [content, topic] = [`${'🌳'.repeat(9_999)}ab`, `${'t'.repeat(59)}uv`];
  const [cutContent, cutTopic] = [`${'🌳'.repeat(9_980)}\n[message truncated]`, `${'t'.repeat(57)}...`];
  const raw = async (id: number): Promise<[string, string]> => {
    const { message } = await member.ok('GET', `/messages/${id}`, { apply_markdown: false });
    return [message.content, message.subject];
  };
  const whole = ['x'.repeat(10_000), 't'.repeat(60)] as const;
  expect(await raw(await post(member, 'Talk', whole[1], whole[0]))).toEqual(whole);
  expect(await raw(await post(member, 'Talk', topic, content))).toEqual([cutContent, cutTopic]);
  const edited = await post(member, 'Talk', 'short', 'short');
  await member.ok('PATCH', `/messages/${edited}`, { content });
  await member.ok('PATCH', `/messages/${edited}`, { topic });
  expect(await raw(edited)).toEqual([cutContent, cutTopic]);
  await member.ok('POST', '/scheduled_messages', {
    type: 'channel',
    to: talkId,
    topic,
    content,
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3_600,
  });
  const { scheduled_messages } = await member.ok('GET', '/scheduled_messages');
  expect(scheduled_messages).toMatchObject([{ content: cutContent, topic: cutTopic }]);
  await member.ok('POST', '/drafts', { drafts: [{ type: 'stream', to: [talkId], topic, content, timestamp: 1 }] });
  expect((await member.ok('GET', '/drafts')).drafts).toMatchObject([{ content: cutContent, topic: cutTopic }]);
});
