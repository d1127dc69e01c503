import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
const channel = async (who: Client, name: string, others: Client[] = [], form: Record<string, unknown> = {}) => {
  await who.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: [who.user_id, ...others.map((person) => person.user_id)],
    ...form,
  });
  return (await who.ok('GET', '/get_stream_id', { stream: name })).stream_id as number;
};
const say = async (who: Client, to: string, topic: string, content: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic, content })).id;
const tell = async (who: Client, to: Client[], content: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'direct', to: to.map((person) => person.user_id), content })).id;
const read = (who: Client, form: Record<string, unknown> = {}): Promise<Json> =>
  who.ok('GET', '/messages', { anchor: 'newest', num_before: 100, num_after: 0, ...form });
const ids = async (who: Client, narrow: unknown): Promise<number[]> =>
  (await read(who, { narrow })).messages.map((message: Json) => message.id);

beforeAll(async () => {
  realm = await openRealm();
});

describe('a page of messages', () => {
  let sent: number[];
  beforeAll(async () => {
    await channel(realm.owner, 'pages', [realm.member]);
    sent = [];
    for (let index = 0; index < 10; index++)
      sent.push(await say(realm.owner, 'pages', `t${index % 2}`, `number ${index}`));
  });
  const narrow = [['channel', 'pages'], { operator: 'topic', operand: 'T1' }];

  test('contains the messages around its anchor in ascending order', async () => {
    const page = await read(realm.member, {
      anchor: sent[5],
      num_before: 2,
      num_after: 1,
      narrow: [
        ['channel', 'pages'],
        ['sender', realm.owner.user_id],
      ],
    });
    expect(page.messages.map((message: Json) => message.id)).toEqual(sent.slice(3, 7));
    expect([page.anchor, page.found_anchor, page.found_oldest, page.found_newest]).toEqual([
      sent[5],
      true,
      false,
      false,
    ]);
  });
  test('omits its anchor if include_anchor is false', async () => {
    const form = {
      anchor: sent[5],
      include_anchor: false,
      narrow: [
        ['channel', 'pages'],
        ['sender', realm.owner.user_id],
      ],
    };
    for (const [num_before, num_after, found] of [
      [1, 0, sent[4]],
      [0, 1, sent[6]],
    ]) {
      const page = await read(realm.member, { ...form, num_before, num_after });
      expect(page.messages.map((message: Json) => message.id)).toEqual([found]);
      expect(page.found_anchor).toBe(false);
    }
    const middle = { ...form, num_before: 1, num_after: 1 };
    for (const { status, body } of [
      await realm.member.get('/messages', middle),
      await realm.member.post('/messages/flags/narrow', { ...middle, op: 'add', flag: 'starred' }),
    ])
      expect([status, body.msg]).toEqual([400, 'The anchor can only be excluded at an end of the range']);
  });
  test('returns whether it reaches the ends of the history', async () => {
    const page = await read(realm.member, { anchor: 'oldest', num_before: 0, num_after: 100, narrow });
    expect(page.messages.map((message: Json) => message.id)).toEqual([1, 3, 5, 7, 9].map((index) => sent[index]));
    expect([page.anchor, page.found_oldest, page.found_newest]).toEqual([0, true, true]);
    const { anchor } = await read(realm.member, { narrow });
    expect(anchor).toBe(10_000_000_000_000_000);
    const again = await read(realm.member, { anchor, num_before: 2, narrow });
    expect(again.messages.map((message: Json) => message.id)).toEqual([7, 9].map((index) => sent[index]));
  });
  test('starts at the first unread message with the anchor first_unread', async () => {
    await realm.member.ok('POST', '/messages/flags', { messages: sent.slice(0, 4), op: 'add', flag: 'read' });
    const page = await read(realm.member, {
      anchor: 'first_unread',
      num_before: 1,
      num_after: 1,
      narrow: [
        ['channel', 'pages'],
        ['sender', realm.owner.user_id],
      ],
    });
    expect(page.anchor).toBe(sent[4]);
    expect(page.messages.map((message: Json) => [message.id, message.flags])).toEqual([
      [sent[3], ['read']],
      [sent[4], []],
      [sent[5], []],
    ]);
  });
  test.each(['id', 'with', 'near'])(
    'with an ID of any length in the operator %s is rejected with 400',
    async (operator) => {
      for (const operand of ['9'.repeat(400), '9223372036854775808']) {
        const form = { anchor: 'newest', num_before: 1, num_after: 1, narrow: [[operator, operand]] };
        const { status, body } = await realm.member.get('/messages', form);
        expect([status, body.code]).toEqual([400, 'BAD_NARROW']);
      }
    },
  );
  test.each([
    [{ num_before: 1, num_after: 1 }, 'REQUEST_VARIABLE_MISSING'],
    [{ anchor: 'newest', num_after: 1 }, 'REQUEST_VARIABLE_MISSING'],
    [{ anchor: 'newest', num_before: 5000, num_after: 1 }, 'BAD_REQUEST'],
    [{ anchor: 'soon', num_before: 1, num_after: 1 }, 'BAD_REQUEST'],
    [{ anchor: 'newest', num_before: 1, num_after: 1, narrow: [['colour', 'red']] }, 'BAD_NARROW'],
    [{ anchor: 'newest', num_before: 1, num_after: 1, narrow: [['channel', 'nowhere']] }, 'BAD_NARROW'],
    [{ anchor: 'newest', num_before: 1, num_after: 1, narrow: [['sender', 3_000_000_000]] }, 'BAD_NARROW'],
    [{ anchor: 'newest', num_before: 1, num_after: 1, narrow: [['search', '']] }, 'BAD_REQUEST'],
    [{ anchor: 1.5, num_before: 1, num_after: 1 }, 'BAD_REQUEST'],
  ])('for %j is rejected with %s', async (form, code) => {
    const { status, body } = await realm.member.get('/messages', form);
    expect([status, body.code]).toEqual([400, code]);
  });
});

test('messages are read by ID or around an anchor, not both', async () => {
  const id = await tell(realm.owner, [realm.member], 'one');
  const page = await realm.member.ok('GET', '/messages', { message_ids: [id], num_before: 0, num_after: 0 });
  expect(page.messages.map((message: Json) => message.id)).toEqual([id]);
  const parameters = 'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';
  for (const form of [{ anchor: id }, { num_before: 1 }, { num_after: 1 }, { use_first_unread_anchor: true }]) {
    const { status, body } = await realm.member.get('/messages', { message_ids: [id], ...form });
    expect([form, status, body]).toMatchObject([form, 400, { code: 'INCOMPATIBLE_PARAMETERS', parameters }]);
  }
});

describe('a message', () => {
  test('contains every field that clients read', async () => {
    const id = await tell(realm.owner, [realm.member, realm.guest], '**bold**');
    const { message, raw_content } = await realm.member.ok('GET', `/messages/${id}`);
    expect(raw_content).toBe('**bold**');
    expect(message).toMatchObject({
      id,
      type: 'private',
      content: '<p><strong>bold</strong></p>',
      content_type: 'text/html',
      sender_id: realm.owner.user_id,
      sender_email: realm.owner.email,
      sender_full_name: realm.owner.full_name,
      subject: '',
      topic_links: [],
      reactions: [],
      submessages: [],
      is_me_message: false,
    });
    expect(message.display_recipient.map((person: Json) => person.id)).toEqual(
      [realm.owner, realm.member, realm.guest].map((person) => person.user_id),
    );
    expect(message.timestamp).toBeGreaterThan(Date.now() / 1000 - 60);
  });
  test('that the user may not read returns the same error as a missing one', async () => {
    const id = await tell(realm.owner, [realm.member], 'secret');
    const [foreign, unknown] = [
      await realm.member2.get(`/messages/${id}`),
      await realm.member2.get('/messages/999999'),
    ];
    expect(foreign).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST', msg: unknown.body.msg } });
    expect((await realm.member2.ok('GET', '/messages', { message_ids: [id] })).messages).toEqual([]);
  });
  test('in the empty topic has a display name unless allow_empty_topic_name is set', async () => {
    await channel(realm.owner, 'topicless', [realm.member]);
    const id = await say(realm.owner, 'topicless', '', 'x');
    const named = await realm.member.ok('GET', '/messages', { message_ids: [id] });
    const empty = await realm.member.ok('GET', '/messages', { message_ids: [id], allow_empty_topic_name: true });
    expect([named.messages[0].subject, empty.messages[0].subject]).toEqual(['general chat', '']);
    await say(realm.owner, 'topicless', '', 'a chat about quokkas');
    const found = async (form: Json) =>
      (await read(realm.member, { narrow: [['search', 'quokkas chat']], ...form })).messages[0].match_subject;
    expect([await found({}), await found({ allow_empty_topic_name: true })]).toEqual(['general chat', '']);
  });
});

describe('a narrow', () => {
  test('selects by each operator and by its negation', async () => {
    const { owner, member, member2 } = realm;
    const id = await channel(owner, 'narrows', [member]);
    const first = await say(owner, 'narrows', 'Fish', 'has a https://example.com link');
    const second = await say(member, 'narrows', '✔ fowl', 'plain elephants');
    const dm = await tell(owner, [member], 'to you');
    const group = await tell(member2, [member, owner], 'to us');
    const own = await tell(member, [member], 'to me');
    const within = async (...terms: unknown[]) =>
      (await ids(member, terms)).filter((one) => [first, second, dm, group, own].includes(one));
    expect(await within(['channel', id])).toEqual([first, second]);
    expect(await within(['stream', 'narrows'], ['topic', 'fish'])).toEqual([first]);
    expect(await within(['channel', id], { operator: 'topic', operand: 'fish', negated: true })).toEqual([second]);
    expect(await within(['sender', owner.email])).toEqual([first, dm]);
    expect(await within(['sender', owner.user_id])).toEqual([first, dm]);
    expect(await within(['dm', [owner.user_id]])).toEqual([dm]);
    expect(await within(['pm-with', `${owner.email},${member2.email}`])).toEqual([group]);
    expect(await within(['dm', [member.user_id]])).toEqual([own]);
    expect(await within(['dm', []])).toEqual([]);
    expect(await within(['search', ' '])).toEqual([]);
    expect(await within({ operator: 'dm', operand: [], negated: true })).toEqual([first, second, dm, group, own]);
    expect(await within(['dm-including', owner.user_id])).toEqual([dm, group]);
    expect(await within(['group-pm-with', owner.user_id])).toEqual([group]);
    const both = await member.get('/messages', {
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      narrow: [
        ['channel', id],
        ['dm', [owner.user_id]],
      ],
    });
    expect([both.status, both.body.code]).toEqual([400, 'BAD_NARROW']);
    expect(await within(['is', 'dm'])).toEqual([dm, group, own]);
    expect(await within(['is', 'resolved'])).toEqual([second]);
    expect(await within(['has', 'link'])).toEqual([first]);
    expect(await within(['id', dm])).toEqual([dm]);
    expect(await within(['with', second])).toEqual([second]);
    expect(await within(['channels', 'public'])).toEqual([first, second]);
    expect(await within({ operator: 'is', operand: 'dm', negated: true })).toEqual([first, second]);
    expect(await within()).toEqual([first, second, dm, group, own]);
    await member.ok('POST', '/messages/flags', { messages: [dm], op: 'add', flag: 'starred' });
    expect(await within(['is', 'starred'])).toEqual([dm]);
    expect(await within(['is', 'unread'])).toEqual([first, second, dm, group, own].filter((one) => one !== undefined));
  });
  test('with a message selects its current conversation and overrides the given channel and topic', async () => {
    const { owner, member, member2 } = realm;
    await channel(owner, 'moving', [member]);
    const [moved, left] = [await say(owner, 'moving', 'before', 'x'), await say(owner, 'moving', 'before', 'y')];
    const there = await say(owner, 'moving', 'after', 'z');
    await owner.ok('PATCH', `/messages/${moved}`, { topic: 'after', send_notification_to_new_thread: false });
    const named = [
      ['channel', 'moving'],
      ['topic', 'before'],
    ];
    expect(await ids(member, [...named, ['with', moved]])).toEqual([moved, there]);
    expect(await ids(member, [['with', moved]])).toEqual([moved, there]);
    const direct = await tell(owner, [member], 'to you');
    expect(await ids(member, [...named, ['with', direct]])).toContain(direct);
    // The message is not accessible, so the narrow stays as it was given.
    expect(await ids(member2, [...named, ['with', direct]])).toEqual([left]);
    const form = { anchor: 'newest', num_before: 9, num_after: 0 };
    for (const id of [direct, 99_999_999])
      expect((await member2.get('/messages', { ...form, narrow: [['with', id]] })).body).toMatchObject({
        code: 'BAD_NARROW',
        desc: "Invalid 'with' operator",
      });
    for (const [one] of [named, named.slice(1)])
      expect((await member2.get('/messages', { ...form, narrow: [one, ['with', direct]] })).body.code).toBe(
        'BAD_NARROW',
      );
  });
  test('that excludes an inaccessible channel returns the same error as for a missing channel', async () => {
    await channel(realm.owner, 'no trace', [], { invite_only: true });
    const form = { anchor: 'newest', num_before: 9, num_after: 0 };
    const against = async (operand: unknown) =>
      (await realm.member.get('/messages', { ...form, narrow: [{ operator: 'channel', operand, negated: true }] }))
        .body;
    expect(await against('no trace')).toMatchObject({ code: 'BAD_NARROW', desc: 'unknown channel no trace' });
    expect(await against('no such')).toMatchObject({ code: 'BAD_NARROW', desc: 'unknown channel no such' });
  });
  test('finds starred messages of unsubscribed channels, and messages that mention a user', async () => {
    const { owner, member, member2 } = realm;
    await channel(owner, 'stars', [member]);
    const id = await say(owner, 'stars', 't', `hello @**${member.full_name}**`);
    await member2.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
    expect(await ids(member2, [['is', 'starred']])).toEqual([id]);
    expect(
      await ids(member, [
        ['channel', 'stars'],
        ['mentions', member.user_id],
      ]),
    ).toEqual([id]);
  });
  test('searches words and highlights the matches', async () => {
    await channel(realm.owner, 'search', [realm.member]);
    const id = await say(realm.owner, 'search', 'zoo', 'A herd of walruses & seals');
    const { messages } = await read(realm.member, { narrow: [['search', 'walrus']] });
    expect(messages.map((message: Json) => message.id)).toEqual([id]);
    expect(messages[0].match_content).toBe('<p>A herd of <span class="highlight">walruses</span> &amp; seals</p>');
    expect(await ids(realm.member2, [['search', 'walrus']])).toEqual([]);
    const linked = await say(
      realm.owner,
      'search',
      'zoo',
      '[otter](https://otter.example/otter "an otter") otter.example',
    );
    const found = (await read(realm.member, { narrow: [['search', 'otter']] })).messages.find(
      (message: Json) => message.id === linked,
    );
    expect(found.match_content).toMatch(
      /^<p><a href="https:\/\/otter\.example\/otter" title="an otter"><span class="highlight">otter<\/span><\/a> /,
    );
    expect(await ids(realm.member, [['search', 'walrus or zebra']])).toEqual([]);
    expect(await ids(realm.member, [['search', ' "" ']])).toEqual([]);
    expect(await ids(realm.member, [['search', '"herd of walruses" seals']])).toEqual([id]);
    expect(await ids(realm.member, [['search', '"the herd" seals']])).toEqual([]);
    expect(await ids(realm.member, [['search', '"herd%walruses"']])).toEqual([]);
    // A phrase in the topic, another one in the content.
    const spread = await say(realm.owner, 'search', 'blue lagoon', 'A grey heron nests here');
    expect(await ids(realm.member, [['search', '"blue lagoon" "heron nests"']])).toEqual([spread]);
    expect(await ids(realm.member, [['search', '"blue lagoon" "heron here"']])).toEqual([]);
    const others = { operator: 'search', operand: '"blue lagoon" "heron nests"', negated: true };
    expect(await ids(realm.member, [['topic', 'blue lagoon'], others])).toEqual([]);
    const { messages: matches } = await realm.member.ok('GET', '/messages/matches_narrow', {
      msg_ids: [id, id - 1],
      narrow: [['search', 'seals']],
    });
    expect(Object.keys(matches)).toEqual([String(id)]);
  });
});

describe('history', () => {
  test('of a public channel is visible to later subscribers, as read and historical', async () => {
    await channel(realm.owner, 'old and open');
    const id = await say(realm.owner, 'old and open', 't', 'before');
    await channel(realm.member, 'old and open');
    const { messages } = await read(realm.member, { narrow: [['channel', 'old and open']] });
    expect(messages.filter((message: Json) => message.id === id).map((message: Json) => message.flags)).toEqual([
      ['read', 'historical'],
    ]);
  });
  test('of a private channel starts with the subscription unless it is shared', async () => {
    for (const [name, shared] of [
      ['protected', false],
      ['shared', true],
    ] as const) {
      await channel(realm.owner, name, [], { invite_only: true, history_public_to_subscribers: shared });
      const before = await say(realm.owner, name, 't', 'before');
      await realm.owner.ok('POST', '/users/me/subscriptions', {
        subscriptions: [{ name }],
        principals: [realm.member.user_id],
      });
      const after = await say(realm.owner, name, 't', 'after');
      const seen = await ids(realm.member, [['channel', name]]);
      expect([name, seen.includes(before), seen.includes(after)]).toEqual([name, shared, true]);
      await realm.owner.ok('DELETE', '/users/me/subscriptions', {
        subscriptions: [name],
        principals: [realm.member.user_id],
      });
      const gone = await realm.member.get('/messages', {
        anchor: 'newest',
        num_before: 9,
        num_after: 0,
        narrow: [['channel', name]],
      });
      expect([gone.status, gone.body.code]).toEqual([400, 'BAD_NARROW']);
      expect(await ids(realm.member, [])).not.toContain(after);
    }
  });
});

describe('topics of a channel', () => {
  test('are listed by their newest message, each once in its latest spelling', async () => {
    const id = await channel(realm.owner, 'topical');
    await say(realm.owner, 'topical', 'one', 'x');
    const two = await say(realm.owner, 'topical', 'two', 'x');
    const one = await say(realm.owner, 'topical', 'ONE', 'x');
    const { topics } = await realm.member.ok('GET', `/users/me/${id}/topics`);
    expect(topics.filter((topic: Json) => /one|two/i.test(topic.name))).toEqual([
      { name: 'ONE', max_id: one },
      { name: 'two', max_id: two },
    ]);
  });
});

test('a summary is rejected with the reason, and the register returns that summaries are not available', async () => {
  const { member, spectator } = realm;
  const narrow = [{ operator: 'topic', operand: 'lunch' }];
  const { status, body } = await member.get('/messages/summary', { narrow });
  expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'AI features are not enabled on this server.']);
  const state = await member.ok('POST', '/register', { fetch_event_types: ['realm'] });
  expect(state.server_can_summarize_topics).toBe(false);
  expect((await spectator.get('/messages/summary', { narrow })).status).toBe(401);
});
