import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
const subscribe = (who: Client, name: string, principals: Client[], form: Record<string, unknown> = {}) =>
  who.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: principals.map((person) => person.user_id),
    ...form,
  });
const post = (who: Client, to: unknown, topic: string | undefined, content: string) =>
  who.post('/messages', { type: 'channel', to, topic, content });
const groupId = async (name: string): Promise<number> =>
  (await realm.owner.ok('GET', '/user_groups')).user_groups.find((group: Json) => group.name === name).id;
const seen = async (who: Client, id: number): Promise<Json> => (await who.ok('GET', `/messages/${id}`)).message;

beforeAll(async () => {
  realm = await openRealm();
  await subscribe(realm.owner, 'talk', [realm.owner, realm.member, realm.member2, realm.guest]);
});

describe('a mention', () => {
  test('of a user, a group or all users is rendered, and flags the message for them', async () => {
    const { owner, member, member2 } = realm;
    const { group_id } = await owner.ok('POST', '/user_groups/create', {
      name: 'cooks',
      description: '',
      members: [member.user_id, member2.user_id],
    });
    const queue = await member.queue({ event_types: ['message'], apply_markdown: true });
    const cases: [string, string, string[]][] = [
      [
        `@**${member.full_name}**`,
        `<p><span class="user-mention" data-user-id="${member.user_id}">@${member.full_name}</span></p>`,
        ['mentioned'],
      ],
      [
        `@_**${member.full_name}**`,
        `<p><span class="user-mention silent" data-user-id="${member.user_id}">${member.full_name}</span></p>`,
        [],
      ],
      [
        `@**${member2.full_name}|${member2.user_id}**`,
        `<p><span class="user-mention" data-user-id="${member2.user_id}">@${member2.full_name}</span></p>`,
        [],
      ],
      [
        '@*cooks*',
        `<p><span class="user-group-mention" data-user-group-id="${group_id}">@cooks</span></p>`,
        ['mentioned'],
      ],
      [
        '@**all**',
        '<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span></p>',
        ['stream_wildcard_mentioned', 'wildcard_mentioned'],
      ],
      ['@**nobody of that name**', '<p>@<strong>nobody of that name</strong></p>', []],
    ];
    for (const [content, html, flags] of cases) {
      const { body } = await post(owner, 'talk', 'mentions', content);
      const event = await queue.next((one) => one.type === 'message' && one.message.id === body.id);
      expect([content, event.message.content, [...event.flags].sort()]).toEqual([content, html, [...flags].sort()]);
      const message = await seen(member, body.id);
      expect([content, message.content, [...message.flags].sort()]).toEqual([content, html, [...flags].sort()]);
    }
    const { messages } = await member.ok('GET', '/messages', {
      anchor: 'newest',
      num_before: 50,
      num_after: 0,
      narrow: [['is', 'mentioned']],
    });
    expect(messages.length).toBe(3);
  });
  test.each(['İlker Öz', 'ΝΙΚΟΣ', 'Jürgen ẞ'])(
    'matches %s, whose name has special rules of case',
    async (full_name) => {
      const person = await realm.person({ full_name });
      await subscribe(realm.owner, 'talk', [person]);
      const { body } = await post(realm.owner, 'talk', 'names', `@**${full_name}**`);
      expect((await seen(person, body.id)).flags).toContain('mentioned');
    },
  );

  test('of a group by a user who may not mention it is rejected', async () => {
    const { owner, member } = realm;
    const { group_id } = await owner.ok('POST', '/user_groups/create', {
      name: 'quiet',
      description: '',
      members: [],
      can_mention_group: await groupId('role:administrators'),
    });
    expect(group_id).toBeGreaterThan(0);
    const refused = await post(member, 'talk', 't', '@*quiet*');
    expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await post(owner, 'talk', 't', '@*quiet*')).status).toBe(200);
    expect((await post(member, 'talk', 't', '@_*quiet*')).status).toBe(200);
  });
  test('of all users in a direct message flags it for its participants', async () => {
    const { owner, member } = realm;
    const { body } = await owner.post('/messages', { type: 'direct', to: [member.user_id], content: '@**all**' });
    expect((await seen(member, body.id)).flags).toEqual(['stream_wildcard_mentioned', 'wildcard_mentioned']);
  });
  test('of a user who is not in a private channel does not reveal its topic to them', async () => {
    const { owner, member2 } = realm;
    await subscribe(owner, 'kept apart', [owner], { invite_only: true });
    const queue = await member2.queue();
    await post(owner, 'kept apart', 'a secret topic', `@**${member2.full_name}**`);
    expect((await queue.settle()).filter((event) => event.type === 'user_topic')).toEqual([]);
    expect(JSON.stringify(queue.seen)).not.toContain('a secret topic');
  });
  test('of a bot is delivered in a public channel without a subscription, but not in a private channel', async () => {
    const { owner } = realm;
    const made = await owner.ok('POST', '/bots', { full_name: 'Answering Machine', short_name: 'answering' });
    const { bots } = await owner.ok('GET', '/bots');
    const email = bots.find((one: Json) => one.full_name === 'Answering Machine').username;
    const bot = new Client({ url: owner.url, host: owner.host }, { ...made, email, full_name: 'Answering Machine' });
    const queue = await bot.queue({ event_types: ['message'] });
    await subscribe(owner, 'bots keep out', [owner], { invite_only: true });
    await post(owner, 'bots keep out', 't', '@**Answering Machine** hidden');
    await post(owner, 'talk', 't', 'not for the machine');
    const { body } = await post(owner, 'talk', 't', '@**Answering Machine** hello');
    const event = await queue.next(() => true);
    expect([event.message.id, [...event.flags].sort()]).toEqual([body.id, ['mentioned', 'read']]);
    expect((await seen(bot, body.id)).flags).toEqual(['read', 'mentioned', 'historical']);
  });
  test('in code is ignored', async () => {
    const { body } = await post(realm.owner, 'talk', 't', `\`@**${realm.member.full_name}**\``);
    expect((await seen(realm.member, body.id)).flags).not.toContain('mentioned');
  });
});

describe('a link to a channel', () => {
  test('is rendered only for channels that the sender may see', async () => {
    const { owner, member } = realm;
    await subscribe(owner, 'hidden', [owner], { invite_only: true });
    const { stream_id } = await member.ok('GET', '/get_stream_id', { stream: 'talk' });
    const open = await post(member, 'talk', 't', '#**talk**');
    expect((await seen(owner, open.body.id)).content).toBe(
      `<p><a class="stream" data-stream-id="${stream_id}" href="/#narrow/channel/${stream_id}-talk">#talk</a></p>`,
    );
    const hidden = await post(member, 'talk', 't', '#**hidden**');
    expect((await seen(owner, hidden.body.id)).content).not.toContain('data-stream-id');
  });
  test('and to its topics and messages is rendered for a private channel that only a permission opens to the sender', async () => {
    const { owner, member, member2 } = realm;
    const name = 'by permission';
    const { id } = await owner.ok('POST', '/channels/create', {
      name,
      subscribers: [owner.user_id],
      invite_only: true,
      history_public_to_subscribers: true,
      can_subscribe_group: { direct_members: [member.user_id], direct_subgroups: [] },
    });
    const { body } = await post(owner, id, 'plans', 'x');
    const link = `<a class="stream" data-stream-id="${id}" href="/#narrow/channel/${id}-by-permission">#by permission</a>`;
    const topic = `href="/#narrow/channel/${id}-by-permission/topic/plans/with/${body.id}"`;
    const message = `href="/#narrow/channel/${id}-by-permission/topic/plans/near/${body.id}"`;
    const content = `#**${name}** #**${name}>plans** #**${name}>plans@${body.id}**`;
    const sent = await post(member, 'talk', 't', content);
    const edited = await post(member, 'talk', 't', 'x');
    await member.ok('PATCH', `/messages/${edited.body.id}`, { content });
    const { rendered } = await member.ok('POST', '/messages/render', { content });
    for (const html of [
      (await seen(owner, sent.body.id)).content,
      (await seen(owner, edited.body.id)).content,
      rendered,
    ])
      for (const part of [link, topic, message]) expect(html).toContain(part);
    const hidden = await post(member2, 'talk', 't', content);
    expect((await seen(owner, hidden.body.id)).content).not.toContain('data-stream-id');
  });
});

describe('posting', () => {
  test('to a channel requires its permission', async () => {
    const { owner, member } = realm;
    await subscribe(owner, 'decrees', [owner, member], {
      can_send_message_group: await groupId('role:administrators'),
    });
    const refused = await post(member, 'decrees', 't', 'x');
    expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await post(owner, 'decrees', 't', 'x')).status).toBe(200);
  });
  test('to a private channel requires a subscription, and others get the error of a missing channel', async () => {
    await subscribe(realm.owner, 'closed', [realm.owner], { invite_only: true });
    const [hidden, unknown] = [
      await post(realm.member, 'closed', 't', 'x'),
      await post(realm.member, 'nowhere', 't', 'x'),
    ];
    expect([hidden.status, hidden.body.code, hidden.body.stream]).toEqual([400, 'STREAM_DOES_NOT_EXIST', 'closed']);
    expect([unknown.status, unknown.body.code, unknown.body.stream]).toEqual([400, 'STREAM_DOES_NOT_EXIST', 'nowhere']);
  });
  test('must follow the topics policy of the channel', async () => {
    const { owner } = realm;
    await subscribe(owner, 'topics only', [owner], { topics_policy: 'disable_empty_topic' });
    await subscribe(owner, 'no topics', [owner], { topics_policy: 'empty_topic_only' });
    expect((await post(owner, 'topics only', '', 'x')).body.code).toBe('BAD_REQUEST');
    expect((await post(owner, 'topics only', '(no topic)', 'x')).body.code).toBe('BAD_REQUEST');
    expect((await post(owner, 'topics only', 't', 'x')).status).toBe(200);
    expect((await post(owner, 'no topics', 't', 'x')).body.code).toBe('BAD_REQUEST');
    expect((await post(owner, 'no topics', '', 'x')).status).toBe(200);
  });
});

describe('direct messages', () => {
  const tell = (who: Client, to: unknown) => who.post('/messages', { type: 'direct', to, content: 'x' });
  test('accept recipients by ID or by address, and ignore duplicates', async () => {
    const { owner, member, member2 } = realm;
    const ids = async (to: unknown): Promise<number[]> =>
      (await seen(owner, (await tell(owner, to)).body.id)).display_recipient.map((person: Json) => person.id);
    const both = [owner.user_id, member.user_id];
    expect(await ids([member.user_id, member.user_id, owner.user_id])).toEqual(both);
    expect(await ids([member.email])).toEqual(both);
    expect(await ids(`${member.email}, ${member2.email}`)).toEqual([...both, member2.user_id]);
    expect(await ids(`${member.email},`)).toEqual(both);
    expect(await ids(member.user_id)).toEqual(both);
    expect(await ids([owner.user_id])).toEqual([owner.user_id]);
    expect((await tell(owner, [])).body.code).toBe('BAD_REQUEST');
    expect((await tell(owner, [999_999])).body.code).toBe('BAD_REQUEST');
  });
  test('require a participant who may authorize them', async () => {
    const own = await openRealm();
    const groups = (await own.owner.ok('GET', '/user_groups')).user_groups;
    const administrators = groups.find((group: Json) => group.name === 'role:administrators').id;
    await own.owner.ok('PATCH', '/realm', { direct_message_permission_group: { new: administrators } });
    expect((await tell(own.member, [own.member2.user_id])).body.code).toBe('BAD_REQUEST');
    expect((await tell(own.member, [own.administrator.user_id])).status).toBe(200);
    await own.owner.ok('PATCH', '/realm', { direct_message_initiator_group: { new: administrators } });
    expect((await tell(own.member, [own.owner.user_id])).body.code).toBe('BAD_REQUEST');
    expect((await tell(own.member, [own.administrator.user_id])).status).toBe(200);
  });
});

test('a queue receives the local ID of a message that its client sent', async () => {
  const queue = await realm.member.queue({ event_types: ['message'] });
  const { body } = await realm.member.post('/messages', {
    type: 'channel',
    to: 'talk',
    topic: 't',
    content: 'x',
    queue_id: queue.id,
    local_id: '17.5',
  });
  const event = await queue.next((one) => one.message.id === body.id);
  expect(event.local_message_id).toBe('17.5');
});

test('a repeated local ID refers to the same message only if the request is the same', async () => {
  const queue = await realm.member.queue({ event_types: ['message'] });
  const send = async (form: Json): Promise<number> => {
    const message = {
      type: 'channel',
      to: 'talk',
      topic: 'local ids',
      queue_id: queue.id,
      local_id: '100.01',
      ...form,
    };
    return (await realm.member.ok('POST', '/messages', message)).id;
  };
  const first = await send({ content: 'one' });
  expect(await send({ content: 'one' })).toBe(first);
  const others = [await send({ content: 'two' }), await send({ content: 'one', topic: 'elsewhere' })];
  const events = await queue.settle();
  expect(events.map(({ message, local_message_id }) => [message.id, message.content, local_message_id])).toEqual([
    [first, 'one', '100.01'],
    [others[0], 'two', '100.01'],
    [others[1], 'one', '100.01'],
  ]);
});

test('emoticons become emoji for users who enable translate_emoticons', async () => {
  const { member2 } = realm;
  const say = async (): Promise<string> => {
    const { body } = await post(member2, 'talk', 't', 'fine :)');
    return (await seen(member2, body.id)).content;
  };
  expect(await say()).toBe('<p>fine :)</p>');
  await member2.ok('PATCH', '/settings', { translate_emoticons: true });
  expect(await say()).toBe(
    '<p>fine <span aria-label="smile" class="emoji emoji-1f642" role="img" title="smile">:smile:</span></p>',
  );
});

test('new linkifiers and alert words apply to the next message', async () => {
  const { owner, member } = realm;
  for (const number of [1, 2, 3, 4]) {
    await owner.ok('POST', '/realm/filters', {
      pattern: `next${number}-(?P<id>[0-9]+)`,
      url_template: 'https://next.test/{id}',
    });
    const linked = await post(member, 'talk', 't', `next${number}-5`);
    expect((await seen(member, linked.body.id)).content).toContain('https://next.test/5');
    await owner.ok('POST', '/users/me/alert_words', { alert_words: [`word${number}`] });
    const alerting = await post(member, 'talk', 't', `a word${number}`);
    expect((await seen(owner, alerting.body.id)).flags).toContain('has_alert_word');
  }
});

test.each([
  [{ 'user-agent': 'ZulipTerminal/0.7 (Linux)' }, {}, 'ZulipTerminal', ['read']],
  [{ 'user-agent': 'My Desktop App/5.0 (Linux)' }, {}, 'My Desktop App', ['read']],
  [{ 'user-agent': 'MyBot' }, {}, 'MyBot', []],
  [{ 'user-agent': 'MyBot/1' }, { client: 'website' }, 'website', ['read']],
  [{ 'user-agent': 'ZulipMobile/27' }, { read_by_sender: false }, 'ZulipMobile', []],
])(
  'the headers %j and parameters %j result in the client %s and in the flags %j for the sender',
  async (headers, form, client, flags) => {
    const { member } = realm;
    const message = { type: 'channel', to: 'talk', topic: 'clients', content: 'x', ...form };
    const { body } = await member.post('/messages', message, headers as Record<string, string>);
    expect(body.ignored_parameters_unsupported).toBeUndefined();
    expect(await seen(member, body.id)).toMatchObject({ client, flags });
  },
);
