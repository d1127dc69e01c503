import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';

let realm: Realm;
let channelId: number;
beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'open' }],
    principals: [realm.owner, realm.member, realm.member2].map((who) => who.user_id),
  });
  channelId = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'open' })).stream_id;
});

const send = async (content: string, who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: channelId, topic: 'edits', content })).id;
const edit = (id: number, content: string, who: Client = realm.member) => who.patch(`/messages/${id}`, { content });
const flagsIn = async (who: Client, id: number): Promise<string[]> =>
  (await who.ok('GET', `/messages/${id}`)).message.flags;
const mentionsOf = async (who: Client): Promise<number[]> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['message', 'update_message_flags'] })).unread_msgs.mentions;
const isUpdate = ({ type }: Json): boolean => type === 'update_message';

test('an edit that adds or removes a mention changes the flags of the message, its event and the unread counts', async () => {
  const id = await send('hello');
  const queue = await realm.member2.queue();
  await edit(id, `@**${realm.member2.full_name}** hello`);
  expect((await queue.next(isUpdate)).flags).toEqual(['mentioned']);
  expect(await flagsIn(realm.member2, id)).toEqual(['mentioned']);
  expect(await flagsIn(realm.owner, id)).toEqual([]);
  expect(await mentionsOf(realm.member2)).toContain(id);
  const found = await realm.member2.ok('GET', '/messages', {
    anchor: id,
    num_before: 0,
    num_after: 0,
    narrow: [['is', 'mentioned']],
  });
  expect(found.messages.map((message: Json) => message.id)).toEqual([id]);
  await edit(id, 'nobody any more');
  expect((await queue.next((event) => isUpdate(event) && event.content === 'nobody any more')).flags).toEqual([]);
  expect(await flagsIn(realm.member2, id)).toEqual([]);
  expect(await mentionsOf(realm.member2)).not.toContain(id);
});

test('an edit that adds wildcards, a group or an alert word sets the same flags as sending the message', async () => {
  await realm.owner.ok('POST', '/users/me/alert_words', { alert_words: ['pancake'] });
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'cooks',
    description: '',
    members: [realm.member2.user_id],
  });
  expect(group_id).toBeGreaterThan(0);
  const id = await send('hello');
  await edit(id, '@**all** hello');
  expect(await flagsIn(realm.owner, id)).toEqual(['stream_wildcard_mentioned', 'wildcard_mentioned']);
  await edit(id, '@**topic** hello');
  expect(await flagsIn(realm.owner, id)).toEqual([]);
  expect(await flagsIn(realm.member, id)).toEqual(
    expect.arrayContaining(['topic_wildcard_mentioned', 'wildcard_mentioned']),
  );
  await edit(id, 'a Pancake for @*cooks*');
  expect(await flagsIn(realm.owner, id)).toEqual(['has_alert_word']);
  expect(await flagsIn(realm.member2, id)).toEqual(['mentioned']);
  expect(await flagsIn(realm.member, id)).not.toContain('wildcard_mentioned');
});

test('an edit of a direct message mentions only its participants', async () => {
  const form = { type: 'direct', to: [realm.member2.user_id], content: 'hello' };
  const { id } = await realm.member.ok('POST', '/messages', form);
  await edit(id, `@**${realm.member2.full_name}** @**${realm.owner.full_name}** @**all**`);
  expect(await flagsIn(realm.member2, id)).toEqual(['mentioned', 'stream_wildcard_mentioned', 'wildcard_mentioned']);
  expect(await mentionsOf(realm.owner)).not.toContain(id);
});

test('an edit does not flag the message for a user who subscribed after it was sent', async () => {
  const id = await send('hello');
  const late = await realm.person({ full_name: 'Late Comer' });
  await late.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  await late.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  const queue = await late.queue();
  await edit(id, '@**Late Comer** hello');
  expect((await queue.next(isUpdate)).flags).toEqual(['read', 'starred', 'historical']);
  expect(await flagsIn(late, id)).toEqual(['read', 'starred', 'historical']);
});

test('a message to which an edit adds a link matches has:link', async () => {
  const id = await send('hello');
  const withLink = async (): Promise<number[]> =>
    (
      await realm.owner.ok('GET', '/messages', { anchor: id, num_before: 0, num_after: 0, narrow: [['has', 'link']] })
    ).messages.map((message: Json) => message.id);
  expect(await withLink()).toEqual([]);
  await edit(id, 'https://natter.example/page');
  expect(await withLink()).toEqual([id]);
});

test('the author of a message counts among those whom it mentions as participants of its topic', async () => {
  const many = await Promise.all(Array.from({ length: 15 }, () => realm.person()));
  await realm.owner.ok('POST', '/channels/create', {
    name: 'busy',
    subscribers: [realm.member, ...many].map((who) => who.user_id),
  });
  const say = (who: Client, content: string) =>
    who.post('/messages', { type: 'channel', to: 'busy', topic: 'x', content });
  for (const who of many) expect((await say(who, 'hello')).status).toBe(200);
  expect((await say(realm.member, '@**topic** hello')).body.code).toBe('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
  expect((await say(many[0] as Client, '@**topic** hello')).status).toBe(200);
});

test('an edit cannot add a mention that the user may not send: a wildcard in a large channel, a protected group', async () => {
  const many = await Promise.all(Array.from({ length: 16 }, () => realm.person()));
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'crowd' }],
    principals: [realm.member, ...many].map((who) => who.user_id),
  });
  const crowd = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'crowd' })).stream_id;
  const { id } = await realm.member.ok('POST', '/messages', {
    type: 'channel',
    to: crowd,
    topic: 'x',
    content: 'hello',
  });
  expect((await edit(id, '@**all** hello')).body.code).toBe('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
    name: 'chosen',
    description: '',
    members: [realm.owner.user_id],
    can_mention_group: { direct_members: [realm.owner.user_id], direct_subgroups: [] },
  });
  expect(group_id).toBeGreaterThan(0);
  const refused = await edit(id, '@*chosen* hello');
  expect([refused.status, refused.body.msg]).toEqual([400, "You are not allowed to mention user group 'chosen'."]);
  expect((await realm.member.ok('GET', `/messages/${id}`)).raw_content).toBe('hello');
});

test('a bot that is mentioned without a subscription keeps its mention in an edit, and receives changes of the message', async () => {
  const { owner, member } = realm;
  const made = await owner.ok('POST', '/bots', { full_name: 'Answering Machine', short_name: 'answering' });
  const bot = new Client(owner, { ...made, full_name: 'Answering Machine', email: `answering-bot@${realm.host}` });
  const id = await send('@**Answering Machine** hello');
  const queue = await bot.queue({ event_types: ['update_message', 'reaction', 'delete_message'] });
  const historical = ['read', 'mentioned', 'historical'];
  await edit(id, '@**Answering Machine** how are you?');
  expect((await queue.next(isUpdate)).flags).toEqual(historical);
  expect(await flagsIn(bot, id)).toEqual(historical);
  await owner.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'smile' });
  expect((await queue.next(({ type }) => type === 'reaction')).message_id).toBe(id);
  await member.ok('PATCH', `/messages/${id}`, { topic: 'edits of bots' });
  expect((await queue.next(({ subject }) => subject === 'edits of bots')).flags).toEqual(historical);
  await edit(id, 'nobody any more');
  expect((await queue.next(({ content }) => content === 'nobody any more')).flags).toEqual(['read']);
});

test('an edit does not mention a group if the permission is withdrawn during its transaction', async () => {
  const { owner, member2 } = realm;
  const members = [member2.user_id];
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'closing', description: '', members });
  const id = await send('hello');
  const rows = 'messaging.message WHERE realm_id = $1 AND id = $2 FOR UPDATE';
  const nobody = { direct_members: [], direct_subgroups: [] };
  const [edited] = await behindRows(
    { rows, values: [realm.id, id], services: ['messaging'] },
    [() => edit(id, '@*closing* hello')],
    () => owner.ok('PATCH', `/user_groups/${group_id}`, { can_mention_group: { new: nobody } }),
  );
  expect([edited?.status, edited?.body.msg]).toEqual([400, "You are not allowed to mention user group 'closing'."]);
  expect(await flagsIn(member2, id)).toEqual([]);
});
