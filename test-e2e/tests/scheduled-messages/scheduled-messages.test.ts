import { type Client, type Json, openRealm, type Queue, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { beforeDue, soon } from './soon.ts';

let realm: Realm;
let channelId: number;
let privateId: number;
beforeAll(async () => {
  realm = await openRealm();
  const make = async (who: Client, name: string, form: object = {}) => {
    await who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], ...form });
    return (await who.ok('GET', '/get_stream_id', { stream: name })).stream_id;
  };
  channelId = await make(realm.member, 'open');
  privateId = await make(realm.owner, 'closed', { invite_only: true });
});

const toChannel = (changes: object = {}): object => ({
  type: 'channel',
  to: channelId,
  topic: 'later',
  content: 'hello **later**',
  scheduled_delivery_timestamp: soon(3_600),
  ...changes,
});
const toPerson = (changes: object = {}): object => ({
  type: 'direct',
  to: [realm.member2.user_id],
  content: 'hello',
  scheduled_delivery_timestamp: soon(3_600),
  ...changes,
});
const schedule = async (who: Client, form: object): Promise<number> =>
  (await who.ok('POST', '/scheduled_messages', form as Json)).scheduled_message_id;
const listed = async (who: Client): Promise<Json[]> => (await who.ok('GET', '/scheduled_messages')).scheduled_messages;

describe('scheduling', () => {
  test('stores a channel message with its HTML until it is due', async () => {
    const person = await realm.person();
    const at = soon(3_600);
    const id = await schedule(person, toChannel({ scheduled_delivery_timestamp: at }));
    expect(await listed(person)).toEqual([
      {
        scheduled_message_id: id,
        type: 'stream',
        to: channelId,
        topic: 'later',
        content: 'hello **later**',
        rendered_content: '<p>hello <strong>later</strong></p>',
        scheduled_delivery_timestamp: at,
        failed: false,
      },
    ]);
  });

  test('stores a direct message with its other participants', async () => {
    const person = await realm.person();
    const id = await schedule(person, toPerson({ to: [realm.member2.user_id, person.user_id, realm.owner.user_id] }));
    const [kept] = await listed(person);
    expect(kept).toMatchObject({ scheduled_message_id: id, type: 'private', failed: false });
    expect([...kept.to].sort()).toEqual([realm.member2.user_id, realm.owner.user_id].sort());
    expect(kept).not.toHaveProperty('topic');
  });

  test('a message to its author stores the author as the recipient', async () => {
    const person = await realm.person();
    await schedule(person, toPerson({ to: [person.user_id] }));
    expect((await listed(person))[0].to).toEqual([person.user_id]);
  });

  test.each(['direct', 'private'])('accepts type %s for direct messages', async (type) => {
    expect(await schedule(realm.member, toPerson({ type }))).toBeGreaterThan(0);
  });

  test.each(['channel', 'stream'])('accepts type %s for channel messages', async (type) => {
    expect(await schedule(realm.member, toChannel({ type }))).toBeGreaterThan(0);
  });

  test.each(['(no topic)', 'general chat', ''])('stores topic "%s" as the empty topic', async (topic) => {
    const person = await realm.person();
    await schedule(person, toChannel({ topic }));
    expect((await listed(person))[0].topic).toBe('');
  });

  test('ignores the topic of a direct message', async () => {
    const person = await realm.person();
    await schedule(person, toPerson({ topic: 'x' }));
    expect((await listed(person))[0]).not.toHaveProperty('topic');
  });

  test('lists messages by their time of delivery', async () => {
    const person = await realm.person();
    const late = await schedule(person, toPerson({ scheduled_delivery_timestamp: soon(900) }));
    const early = await schedule(person, toPerson({ scheduled_delivery_timestamp: soon(600) }));
    expect((await listed(person)).map((item) => item.scheduled_message_id)).toEqual([early, late]);
  });

  test.each<[string, () => object]>([
    ['a time that is past', () => toPerson({ scheduled_delivery_timestamp: soon(-10) })],
    ['an unknown user', () => toPerson({ to: [999_999] })],
    ['an empty content', () => toPerson({ content: ' ' })],
    ['an unknown type', () => toPerson({ type: 'letter' })],
    ['two channels', () => toChannel({ to: [channelId, privateId] })],
    ['names as recipients', () => toPerson({ to: [realm.member2.email] })],
    ['no recipients', () => toPerson({ to: [] })],
  ])('refuses %s', async (_, form) => {
    const { status, body } = await realm.member.post('/scheduled_messages', form() as Json);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test.each(['type', 'to', 'content', 'scheduled_delivery_timestamp'])('requires %s', async (name) => {
    const { status, body } = await realm.member.post('/scheduled_messages', { ...toChannel(), [name]: undefined });
    expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', name]);
  });

  test('requires a topic only where POST /messages does', async () => {
    const person = await realm.person();
    const strict = await realm.owner.ok('POST', '/channels/create', {
      name: 'with topics',
      subscribers: [person.user_id],
      topics_policy: 'disable_empty_topic',
    });
    for (const path of ['/messages', '/scheduled_messages']) {
      const refused = await person.post(path, toChannel({ to: strict.id, topic: undefined }) as Json);
      expect([refused.status, refused.body.code, refused.body.var_name]).toEqual([
        400,
        'REQUEST_VARIABLE_MISSING',
        'topic',
      ]);
      expect((await person.post(path, toChannel({ topic: undefined }) as Json)).status).toBe(200);
    }
    expect((await listed(person)).map(({ topic }) => topic)).toEqual(['']);
  });

  test('to a missing channel returns its ID, and to an inaccessible channel returns the same error', async () => {
    const none = await realm.member.post('/scheduled_messages', toChannel({ to: 999_999 }) as Json);
    expect([none.status, none.body.code, none.body.stream_id]).toEqual([400, 'STREAM_DOES_NOT_EXIST', 999_999]);
    const hidden = await realm.member.post('/scheduled_messages', toChannel({ to: privateId }) as Json);
    expect([hidden.status, hidden.body.code, hidden.body.stream_id]).toEqual([400, 'STREAM_DOES_NOT_EXIST', privateId]);
  });

  test('twice with the same key stores one message', async () => {
    const person = await realm.person();
    const form = toPerson() as Json;
    const send = () => person.post('/scheduled_messages', form, { 'idempotency-key': 'once' });
    expect((await send()).body.scheduled_message_id).toBe((await send()).body.scheduled_message_id);
    expect(await listed(person)).toHaveLength(1);
  });

  test('sends the event to the author only', async () => {
    const [mine, other] = [await realm.member.queue(), await realm.member2.queue()];
    const id = await schedule(realm.member, toPerson());
    const event = await mine.next(({ type }) => type === 'scheduled_messages');
    expect(event).toMatchObject({ op: 'add', scheduled_messages: [{ scheduled_message_id: id, content: 'hello' }] });
    expect((await other.settle()).filter(({ type }) => type === 'scheduled_messages')).toEqual([]);
  });
});

describe('editing a scheduled message', () => {
  test('changes the given values and keeps the others', async () => {
    const person = await realm.person();
    const id = await schedule(person, toChannel());
    const queue = await person.queue({ event_types: ['scheduled_messages'] });
    const [before] = await listed(person);
    await person.ok('PATCH', `/scheduled_messages/${id}`, { content: 'other' });
    const after = { ...before, content: 'other', rendered_content: '<p>other</p>' };
    expect(await listed(person)).toEqual([after]);
    expect(await queue.next(({ op }) => op === 'update')).toMatchObject({ scheduled_message: after });
    await person.ok('PATCH', `/scheduled_messages/${id}`, {
      topic: 'moved',
      scheduled_delivery_timestamp: soon(7_200),
    });
    expect((await listed(person))[0]).toMatchObject({ topic: 'moved', content: 'other', to: channelId });
  });

  test('to another type requires a recipient, and for a channel a topic', async () => {
    const person = await realm.person();
    const id = await schedule(person, toPerson());
    const edit = (form: object) => person.patch(`/scheduled_messages/${id}`, form as Json);
    for (const form of [{ type: 'channel' }, { type: 'channel', to: channelId }])
      expect([(await edit(form)).status, (await edit(form)).body.code]).toEqual([400, 'BAD_REQUEST']);
    await person.ok('PATCH', `/scheduled_messages/${id}`, { type: 'channel', to: channelId, topic: 'now' });
    expect((await listed(person))[0]).toMatchObject({ type: 'stream', to: channelId, topic: 'now' });
    expect((await edit({ type: 'direct' })).status).toBe(400);
    await person.ok('PATCH', `/scheduled_messages/${id}`, { type: 'direct', to: [realm.owner.user_id] });
    expect((await listed(person))[0]).toMatchObject({ type: 'private', to: [realm.owner.user_id] });
  });

  test('without changes, to a past time or to an inaccessible recipient is rejected', async () => {
    const person = await realm.person();
    const id = await schedule(person, toPerson());
    for (const form of [
      {},
      { scheduled_delivery_timestamp: soon(-5) },
      { type: 'channel', to: privateId, topic: 'x' },
      { content: '' },
    ])
      expect((await person.patch(`/scheduled_messages/${id}`, form as Json)).status).toBe(400);
    expect((await listed(person))[0]).toMatchObject({ content: 'hello', type: 'private' });
  });

  test('or deleting it returns 404 if it is missing or belongs to another user', async () => {
    const id = await schedule(realm.member, toPerson());
    for (const [who, which] of [
      [realm.member2, id],
      [realm.member, 99_999_999],
    ] as const) {
      const edited = await who.patch(`/scheduled_messages/${which}`, { content: 'x' });
      const deleted = await who.delete(`/scheduled_messages/${which}`);
      expect([edited.status, edited.body.code]).toEqual([404, 'BAD_REQUEST']);
      expect([deleted.status, deleted.body.code]).toEqual([404, 'BAD_REQUEST']);
    }
  });
});

test('a deleted scheduled message is removed and never sent', async () => {
  const person = await realm.person();
  const queue = await person.queue();
  const toSelf = (content: string, at: number) =>
    schedule(person, toPerson({ to: [person.user_id], content, scheduled_delivery_timestamp: at }));
  // On a busy machine a message may be sent before it is deleted; the next one has more time.
  const deleteInTime = async (seconds: number): Promise<{ id: number; content: string; due: number }> => {
    const content = `in ${seconds} seconds`;
    const due = soon(seconds);
    const id = await toSelf(content, due).catch(() => 0);
    const { status } = await person.delete(`/scheduled_messages/${id}`);
    if (status === 200 || seconds > 60) return { id, content, due };
    return deleteInTime(seconds * 2);
  };
  const { id, content, due } = await deleteInTime(3);
  const isRemoved = (event: Json) => event.op === 'remove' && event.scheduled_message_id === id;
  await queue.next(isRemoved);
  expect(await listed(person)).toEqual([]);
  const later = await beforeDue((at) => toSelf('marker', Math.max(at, due + 1)));
  await queue.next((event) => event.type === 'message' && event.message.content === 'marker', 120_000);
  expect(queue.seen.filter((event) => event.type === 'message' && event.message.content === content)).toEqual([]);
  expect(later).not.toBe(id);
});

describe('a scheduled message that is due', () => {
  test('is sent once as a message of its author, and is removed from their list', async () => {
    const person = await realm.person();
    const [mine, theirs] = [await person.queue(), await realm.member2.queue({ apply_markdown: true })];
    const { at, id } = await beforeDue(async (at) => ({
      at,
      id: await schedule(person, toPerson({ content: 'on **time**', scheduled_delivery_timestamp: at })),
    }));
    const { message } = await theirs.next(
      (event) => event.type === 'message' && event.message.sender_id === person.user_id,
      120_000,
    );
    expect(message).toMatchObject({ content: '<p>on <strong>time</strong></p>', sender_email: person.email });
    expect(message.timestamp).toBeGreaterThanOrEqual(at);
    expect(message.timestamp).toBeLessThanOrEqual(soon(1));
    expect(await mine.next(({ op }) => op === 'remove')).toMatchObject({ scheduled_message_id: id });
    expect(await listed(person)).toEqual([]);
    const again = (await theirs.settle()).filter((event) => event.message?.sender_id === person.user_id);
    expect(again).toEqual([]);
    const edit = await person.patch(`/scheduled_messages/${id}`, { content: 'too late' });
    expect([edit.status, edit.body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('does not wait for a message that was scheduled earlier for a later time', async () => {
    const person = await realm.person();
    const queue = await person.queue();
    const later = await schedule(person, toPerson({ to: [person.user_id], content: 'second' }));
    await beforeDue((at) =>
      schedule(person, toPerson({ to: [person.user_id], content: 'first', scheduled_delivery_timestamp: at })),
    );
    const isSent = (content: string) => (event: Json) => event.type === 'message' && event.message.content === content;
    await queue.next(isSent('first'), 120_000);
    expect(queue.seen.some(isSent('second'))).toBe(false);
    await beforeDue((at) => person.ok('PATCH', `/scheduled_messages/${later}`, { scheduled_delivery_timestamp: at }));
    await queue.next(isSent('second'), 120_000);
  });

  test('is sent in the order of scheduling among messages of the same second', async () => {
    const contents = Array.from({ length: 20 }, (_, index) => `number ${index}`);
    const queue = await beforeDue(async (at) => {
      const person = await realm.person();
      const own = await person.queue();
      for (const content of contents)
        await schedule(person, toPerson({ to: [person.user_id], content, scheduled_delivery_timestamp: at }));
      return own;
    }, 8);
    await queue.next((event) => event.type === 'message' && event.message.content === 'number 19', 120_000);
    const sent = queue.seen.filter(({ type }) => type === 'message').map(({ message }) => message.content);
    expect(sent).toEqual(contents);
  });

  test('to the same person as messages of other authors reaches only that person and its author', async () => {
    const authors = [await realm.person(), await realm.person(), await realm.person()];
    const queues = await Promise.all(authors.map((author) => author.queue({ event_types: ['message'] })));
    await beforeDue(async (at) => {
      for (const author of authors)
        await schedule(author, toPerson({ content: `by ${author.user_id}`, scheduled_delivery_timestamp: at }));
    }, 4);
    for (const [index, queue] of queues.entries()) {
      const { message } = await queue.next(({ type }) => type === 'message', 120_000);
      const ids = [authors[index]?.user_id, realm.member2.user_id].sort((a, b) => Number(a) - Number(b));
      expect(message.display_recipient.map((person: Json) => person.id)).toEqual(ids);
      expect((await queue.settle()).filter((event) => event.message.sender_id !== authors[index]?.user_id)).toEqual([]);
    }
  });

  test.each([
    [true, ['read']],
    [false, []],
  ])('with read_by_sender %s has the corresponding flag for its author', async (read_by_sender, flags) => {
    const person = await realm.person();
    const queue = await person.queue();
    await beforeDue((at) => schedule(person, toPerson({ read_by_sender, scheduled_delivery_timestamp: at })));
    expect((await queue.next(({ type }) => type === 'message', 120_000)).flags).toEqual(flags);
  });

  test('of an interactive client is read for its author by default, unless it is sent to the author only', async () => {
    const person = await realm.person();
    const queue = await person.queue();
    const client = { 'user-agent': 'ZulipTerminal/0.7' };
    for (const to of [realm.member2.user_id, person.user_id])
      await beforeDue(async (at) => {
        const form = toPerson({ to: [to], content: String(to), scheduled_delivery_timestamp: at }) as Json;
        const { status, body } = await person.patiently('POST', '/scheduled_messages', form, client);
        if (status !== 200) throw new Error(body.msg);
      });
    const sentTo = (id: number) => (event: Json) => event.message?.content === String(id);
    const toOther = await queue.next(sentTo(realm.member2.user_id), 120_000);
    const toSelf = queue.seen.find(sentTo(person.user_id)) ?? (await queue.next(sentTo(person.user_id), 120_000));
    expect([toOther.flags, toSelf.flags]).toEqual([['read'], []]);
    expect(toOther.message.client).toBe('ZulipTerminal');
  });

  test('fails with a notice if its author has lost access to the channel, and can be scheduled again', async () => {
    const person = await realm.person();
    const principals = [person.user_id];
    const isNotice = (event: Json) => event.type === 'message' && event.message.content.includes('was not sent');
    const isSent = (event: Json) => event.type === 'message' && event.message.sender_id === person.user_id;
    const isFailed = (event: Json) => event.type === 'scheduled_messages' && event.op === 'update';
    // On a busy machine a message may be sent before its author leaves; the next one has more time.
    const closedInTime = async (seconds: number): Promise<{ queue: Queue; id: number }> => {
      const subscriptions = [{ name: 'closed' }];
      await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions, principals });
      const queue = await person.queue();
      const form = (at: number) => toChannel({ to: privateId, scheduled_delivery_timestamp: at });
      const id = await beforeDue((at) => schedule(person, form(at)), seconds);
      await realm.owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['closed'], principals });
      const event = await queue.next((seen) => isFailed(seen) || isSent(seen), 120_000);
      return isSent(event) && seconds < 60 ? closedInTime(seconds * 2) : { queue, id };
    };
    const { queue, id } = await closedInTime(3);
    expect(queue.seen.find(isFailed).scheduled_message).toMatchObject({ scheduled_message_id: id, failed: true });
    const notice = queue.seen.find(isNotice) ?? (await queue.next(isNotice));
    expect(notice.message.sender_full_name).toBe('Notification Bot');
    expect(await listed(person)).toMatchObject([{ scheduled_message_id: id, failed: true }]);
    const edit = await person.patch(`/scheduled_messages/${id}`, { type: 'channel', to: channelId, topic: 'open' });
    expect(edit.status).toBe(400);
    await person.ok('PATCH', `/scheduled_messages/${id}`, {
      type: 'channel',
      to: channelId,
      topic: 'open',
      scheduled_delivery_timestamp: soon(600),
    });
    expect(await listed(person)).toMatchObject([{ scheduled_message_id: id, failed: false, to: channelId }]);
  });
});

test('state plus events equals a fresh register for scheduled messages', async () => {
  const person = await realm.person();
  const forms = ['kept', 'edited', 'deleted'].map((content) => toPerson({ content }));
  const ids: number[] = [];
  for (const form of forms) ids.push(await schedule(person, form));
  const queue = await person.queue();
  await beforeDue((at) =>
    schedule(person, toPerson({ to: [person.user_id], content: 'sent', scheduled_delivery_timestamp: at })),
  );
  await schedule(person, toChannel({ topic: '', content: 'new' }));
  await person.ok('PATCH', `/scheduled_messages/${ids[1]}`, { content: 'changed' });
  await person.ok('DELETE', `/scheduled_messages/${ids[2]}`);
  await queue.next((event) => event.type === 'message' && event.message.content === 'sent', 120_000);
  await queue.settle();
  const state = new Map<number, Json>(
    queue.state.scheduled_messages.map((item: Json) => [item.scheduled_message_id, item]),
  );
  for (const event of queue.seen) {
    if (event.type !== 'scheduled_messages') continue;
    if (event.op === 'add') for (const item of event.scheduled_messages) state.set(item.scheduled_message_id, item);
    if (event.op === 'update') state.set(event.scheduled_message.scheduled_message_id, event.scheduled_message);
    if (event.op === 'remove') state.delete(event.scheduled_message_id);
  }
  const fresh = (await person.queue()).state.scheduled_messages;
  expect([...state.values()].sort(byId)).toEqual([...fresh].sort(byId));
  expect(fresh.map((item: Json) => item.content).sort()).toEqual(['changed', 'kept', 'new']);
});

const byId = (a: Json, b: Json): number => a.scheduled_message_id - b.scheduled_message_id;
