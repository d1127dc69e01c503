import { type Client, type Json, noticesSent, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel, openQuietRealm } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  at = await channel(realm.owner, [realm.owner, realm.member, realm.member2]);
});

const send = async (topic: string, who: Client = realm.member, to = at): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic, content: 'hello' })).id;

/** The bot's messages in a topic, as a user sees them: source and flags. */
async function noticesIn(topic: string, who: Client = realm.member, to = at): Promise<[string, string[]][]> {
  await noticesSent(realm.id);
  const narrow = [
    { operator: 'channel', operand: to },
    { operator: 'topic', operand: topic },
  ];
  const page = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false, narrow };
  const { messages } = await who.ok('GET', '/messages', page);
  return messages
    .filter(({ sender_full_name }: Json) => sender_full_name === 'Notification Bot')
    .map(({ content, flags }: Json) => [content, flags]);
}
const textsIn = async (...of: Parameters<typeof noticesIn>): Promise<string[]> =>
  (await noticesIn(...of)).map(([text]) => text);

const both = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };
const by = (): string => `by @_**${realm.member.full_name}|${realm.member.user_id}**.`;
const nameOf = async (id: number): Promise<string> => (await realm.owner.ok('GET', `/streams/${id}`)).stream.name;

test('notices about a move are marked as read only for the user who moved the messages', async () => {
  const id = await send('first name');
  await realm.member.ok('PATCH', `/messages/${id}`, { topic: 'second name', propagate_mode: 'change_all', ...both });
  const name = await nameOf(at);
  const [here, away] = [
    `This topic was moved here from #**${name}>first name** ${by()}`,
    `This topic was moved to #**${name}>second name** ${by()}`,
  ];
  expect(await noticesIn('second name')).toEqual([[here, ['read']]]);
  expect(await noticesIn('first name')).toEqual([[away, ['read']]]);
  expect(await noticesIn('second name', realm.member2)).toEqual([[here, []]]);
  expect(await noticesIn('first name', realm.member2)).toEqual([[away, []]]);
});

test('messages that move into an existing topic are announced there by their number', async () => {
  const name = await nameOf(at);
  await send('joined');
  const one = await send('one (1)');
  const several = [await send('several'), await send('several')];
  const move = { topic: 'joined', propagate_mode: 'change_all', ...both };
  for (const id of [one, several[0]]) await realm.member.ok('PATCH', `/messages/${id}`, move);
  const address = `/#narrow/channel/${at}-${name.replaceAll(' ', '-')}/topic/joined/near/${one}`;
  expect(await textsIn('joined')).toEqual([
    `[A message](${address}) was moved here from #**${name}>one (1)** ${by()}`,
    `2 messages were moved here from #**${name}>several** ${by()}`,
  ]);
  expect(await textsIn('several')).toEqual([`This topic was moved to #**${name}>joined** ${by()}`]);
});

test('a notice links to a moved message in a topic with any special characters', async () => {
  const topic = 'a_b_ ~~c~~ (d) [e](f) *g* `h`';
  const [id] = [await send('split'), await send('split')];
  await realm.member.ok('PATCH', `/messages/${id}`, { topic, ...both });
  await noticesSent(realm.id);
  const page = { anchor: 'newest', num_before: 1, num_after: 0, narrow: [{ operator: 'topic', operand: topic }] };
  const [notice] = (await realm.member.ok('GET', '/messages', page)).messages;
  const encoded = 'a_b_.20~~c~~.20.28d.29.20.5Be.5D.28f.29.20.2Ag.2A.20.60h.60';
  expect(notice.content).toContain(`/topic/${encoded}/near/${id}">A message</a> was moved here from`);
});

test.each(['change_one', 'change_later'])(
  'resolving a part of a topic with %s sends a notice that the topic is resolved',
  async (mode) => {
    const topic = `partly ${mode}`;
    const [first, second] = [await send(topic), await send(topic)];
    await realm.member.ok('PATCH', `/messages/${second}`, { topic: `✔ ${topic}`, propagate_mode: mode });
    expect(await textsIn(`✔ ${topic}`)).toEqual([
      `@_**${realm.member.full_name}|${realm.member.user_id}** has marked this topic as resolved.`,
    ]);
    expect((await realm.member.ok('GET', `/messages/${first}`)).message.subject).toBe(topic);
  },
);

test.each([58, 59, 60])(
  'a topic of %i characters can be resolved and reopened without the permission to move messages',
  async (length) => {
    const { owner, member2 } = realm;
    const nobody = (await owner.ok('GET', '/user_groups')).user_groups.find(
      ({ name }: Json) => name === 'role:nobody',
    ).id;
    const { realm_can_move_messages_between_topics_group: before } = await owner.ok('POST', '/register', {
      fetch_event_types: ['realm'],
    });
    await owner.ok('PATCH', '/realm', { can_move_messages_between_topics_group: { new: nobody } });
    const topic = `${length} `.padEnd(length, 'x');
    const id = await send(topic, member2);
    const change = (to: string) => member2.ok('PATCH', `/messages/${id}`, { topic: to, propagate_mode: 'change_all' });
    await change(`✔ ${topic}`);
    const resolved = length <= 58 ? `✔ ${topic}` : `✔ ${topic.slice(0, 55)}...`;
    expect(await textsIn(resolved)).toMatchObject([expect.stringContaining('has marked this topic as resolved.')]);
    const { message } = await member2.ok('GET', `/messages/${id}`);
    expect(message.subject).toBe(resolved);
    expect(message).not.toHaveProperty('last_moved_timestamp');
    await change(resolved.slice(2));
    expect((await member2.ok('GET', `/messages/${id}`)).message.subject).toBe(resolved.slice(2));
    await owner.ok('PATCH', '/realm', { can_move_messages_between_topics_group: { new: before } });
  },
);

test.each(['✔', '✔ ', '✔ general chat', '✔ (no topic)'])(
  'a topic cannot be moved to the resolved empty topic %j',
  async (topic) => {
    for (const id of [await send(''), await send('with a name')])
      for (const propagate_mode of ['change_one', 'change_all']) {
        const { status, body } = await realm.member.patch(`/messages/${id}`, { topic, propagate_mode });
        expect([status, body.msg]).toEqual([400, 'General chat cannot be marked as resolved']);
      }
  },
);

test('a move of a topic to another channel under its resolved name sends a notice of the move', async () => {
  const [target, name] = [await channel(realm.owner, [realm.owner, realm.member]), await nameOf(at)];
  const id = await send('taken along');
  const form = { topic: '✔ taken along', stream_id: target, propagate_mode: 'change_all' };
  await realm.member.ok('PATCH', `/messages/${id}`, form);
  expect(await textsIn('✔ taken along', realm.member, target)).toEqual([
    `This topic was moved here from #**${name}>taken along** ${by()}`,
  ]);
});

test('moving all messages that the mover sees counts as moving the whole topic, and preferences follow', async () => {
  const { member, member2 } = realm;
  const latecomer = await realm.person();
  const principals = { principals: [latecomer.user_id] };
  const form = { invite_only: true, history_public_to_subscribers: false };
  const vault = await channel(member, [member, member2], form);
  const { stream } = await member.ok('GET', `/streams/${vault}`);
  const subscriptions = [{ name: stream.name }];
  for (const topic of ['resolved', 'renamed', 'split', 'joined']) await send(topic, member, vault);
  await member2.ok('POST', '/user_topics', { stream_id: vault, topic: 'resolved', visibility_policy: 2 });
  await member.ok('POST', '/users/me/subscriptions', { subscriptions, ...principals });
  const move = async (topic: string, to: string, propagate_mode: string): Promise<void> => {
    const [id] = [await send(topic, member, vault), await send(topic, member, vault)];
    await latecomer.ok('PATCH', `/messages/${id}`, { topic: to, propagate_mode, ...both });
  };
  await move('resolved', '✔ resolved', 'change_all');
  await move('renamed', 'new', 'change_all');
  await move('split', 'joined', 'change_later');
  const who = `@_**${latecomer.full_name}|${latecomer.user_id}**`;
  const place = (topic: string): string => `#**${stream.name}>${topic}**`;
  expect(await textsIn('✔ resolved', member, vault)).toEqual([`${who} has marked this topic as resolved.`]);
  expect(await textsIn('renamed', member, vault)).toEqual([`This topic was moved to ${place('new')} by ${who}.`]);
  expect(await textsIn('split', member, vault)).toEqual([`This topic was moved to ${place('joined')} by ${who}.`]);
  expect(await textsIn('joined', member, vault)).toEqual([
    `This topic was moved here from ${place('split')} by ${who}.`,
  ]);
  const { user_topics } = await member2.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  expect(user_topics.filter(({ stream_id }: Json) => stream_id === vault)).toMatchObject([
    { topic_name: '✔ resolved', visibility_policy: 2 },
  ]);
});
