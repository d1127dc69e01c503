import { createHash } from 'node:crypto';
import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let openId: number;
let otherId: number;
let closedId: number;
beforeAll(async () => {
  realm = await openRealm();
  const make = async (name: string, form: object = {}, subscribers: Client[] = [realm.member, realm.member2]) => {
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [realm.owner, ...subscribers].map((who) => who.user_id),
      ...form,
    });
    return (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
  };
  openId = await make('open');
  otherId = await make('other');
  closedId = await make('closed', { invite_only: true }, [realm.member]);
});

let count = 0;
const newTopic = (): string => `topic ${++count}`;
const send = async (topic: string, content = 'hello', who: Client = realm.member): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to: openId, topic, content })).id;
const edit = (who: Client, id: number, form: Json) => who.patch(`/messages/${id}`, form);
const history = async (who: Client, id: number, form: Json = {}): Promise<Json[]> =>
  (await who.ok('GET', `/messages/${id}/history`, form)).message_history;
const isUpdate = ({ type }: Json): boolean => type === 'update_message';

describe('editing content', () => {
  test('sends an event with the previous content to all users who have the message', async () => {
    const topic = newTopic();
    const id = await send(topic, 'before');
    const queue = await realm.member2.queue();
    expect((await edit(realm.member, id, { content: '**after**' })).body).toMatchObject({ detached_uploads: [] });
    const event = await queue.next(isUpdate);
    expect(event).toMatchObject({
      user_id: realm.member.user_id,
      rendering_only: false,
      message_id: id,
      message_ids: [id],
      orig_content: 'before',
      orig_rendered_content: '<p>before</p>',
      content: '**after**',
      rendered_content: '<p><strong>after</strong></p>',
      is_me_message: false,
      stream_id: openId,
      stream_name: 'open',
      flags: expect.any(Array),
      edit_timestamp: expect.any(Number),
    });
    expect(event).not.toHaveProperty('subject');
    expect(event).not.toHaveProperty('new_stream_id');
  });

  test('sends each recipient their own flags of the message', async () => {
    const id = await send(newTopic(), 'before');
    await realm.member2.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
    await realm.member2.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
    const [reader, other] = [await realm.member2.queue(), await realm.owner.queue()];
    await realm.member.ok('PATCH', `/messages/${id}`, { content: 'after' });
    expect((await reader.next(isUpdate)).flags).toEqual(['read', 'starred']);
    expect((await other.next(isUpdate)).flags).toEqual([]);
  });

  test('to an empty text replaces it with a note that the message was deleted', async () => {
    const id = await send(newTopic());
    await realm.member.ok('PATCH', `/messages/${id}`, { content: '' });
    expect((await history(realm.member, id)).at(-1)?.content).toBe('(deleted)');
  });

  test('removes newlines before the text and whitespace after it', async () => {
    const id = await send(newTopic());
    await realm.member.ok('PATCH', `/messages/${id}`, { content: '\n\n/me waves \n' });
    const { message, raw_content } = await realm.member.ok('GET', `/messages/${id}`);
    expect([raw_content, message.is_me_message]).toEqual(['/me waves', true]);
  });

  test('is allowed to the sender only, and not even to an owner of the realm', async () => {
    const id = await send(newTopic());
    for (const who of [realm.owner, realm.member2]) {
      const { status, body } = await edit(who, id, { content: 'x' });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('with a wrong hash of the previous content is rejected', async () => {
    const id = await send(newTopic(), 'before');
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    const { body } = await edit(realm.member, id, { content: 'x', prev_content_sha256: hash('something else') });
    expect(body.code).toBe('EXPECTATION_MISMATCH');
    expect((await edit(realm.member, id, { content: 'x', prev_content_sha256: hash('before') })).status).toBe(200);
  });

  test.each<[string, () => Json]>([
    ['nothing', () => ({})],
    ['the same content', () => ({ content: 'hello' })],
    ['content together with a channel', () => ({ content: 'x', stream_id: otherId })],
    ['a mode without a topic', () => ({ content: 'x', propagate_mode: 'change_all' })],
    ['an unknown mode', () => ({ topic: 'x', propagate_mode: 'change_some' })],
    ['a channel that does not exist', () => ({ stream_id: 999_999 })],
  ])('to %s is rejected', async (_, form) => {
    const { status, body } = await edit(realm.member, await send(newTopic()), form());
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of a direct message is allowed to its sender, but not a topic or channel for it', async () => {
    const form = { type: 'direct', to: [realm.member2.user_id], content: 'before' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    const queue = await realm.member2.queue();
    await realm.member.ok('PATCH', `/messages/${id}`, { content: 'after' });
    expect(await queue.next(isUpdate)).toMatchObject({ message_id: id, content: 'after' });
    for (const change of [{ topic: 'x' }, { stream_id: openId }])
      expect((await edit(realm.member, id, change)).status).toBe(400);
  });

  test('of a message that the user may not read returns the same error as for a missing one', async () => {
    const { id } = await realm.owner.ok('POST', '/messages', {
      type: 'direct',
      to: [realm.administrator.user_id],
      content: 'secret',
    });
    const [hidden, none] = [
      await edit(realm.member, id, { content: 'x' }),
      await edit(realm.member, 9e7, { content: 'x' }),
    ];
    expect(hidden.body).toEqual(none.body);
    expect((await realm.member.get(`/messages/${id}/history`)).body).toEqual(
      (await realm.member.get('/messages/90000000/history')).body,
    );
  });
});

describe('moving between topics', () => {
  test('moves one message, the later ones or all of them, and lists them in the event', async () => {
    for (const [mode, moved] of [
      ['change_one', [1]],
      ['change_later', [1, 2]],
      ['change_all', [0, 1, 2]],
    ] as const) {
      const [topic, target] = [newTopic(), newTopic()];
      const ids = [await send(topic), await send(topic.toUpperCase()), await send(topic)];
      const queue = await realm.member2.queue();
      await realm.member.ok('PATCH', `/messages/${ids[1]}`, { topic: target, propagate_mode: mode });
      expect(await queue.next(isUpdate)).toMatchObject({
        message_id: ids[1],
        message_ids: moved.map((index) => ids[index]),
        orig_subject: topic.toUpperCase(),
        subject: target,
        propagate_mode: mode,
        stream_id: openId,
        topic_links: [],
      });
      for (const [index, id] of ids.entries())
        expect((await history(realm.member, id)).at(-1)?.topic).toBe(
          moved.includes(index as never) ? target : index === 1 ? topic.toUpperCase() : topic,
        );
    }
  });

  test('sends the links of the new topic', async () => {
    const own = await openRealm();
    await own.owner.ok('POST', '/realm/filters', {
      pattern: 'bug-(?P<id>[0-9]+)',
      url_template: 'https://bugs.test/{id}',
    });
    await own.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'links' }] });
    const { id } = await own.owner.ok('POST', '/messages', { type: 'channel', to: 'links', topic: 'a', content: 'x' });
    const queue = await own.owner.queue();
    await own.owner.ok('PATCH', `/messages/${id}`, { topic: 'on bug-7' });
    const links = [{ text: 'bug-7', url: 'https://bugs.test/7' }];
    expect((await queue.next(isUpdate)).topic_links).toEqual(links);
    expect((await own.owner.ok('GET', `/messages/${id}`)).message.topic_links).toEqual(links);
    expect((await own.owner.ok('POST', '/messages/render', { content: 'bug-8' })).rendered).toBe(
      '<p><a href="https://bugs.test/8">bug-8</a></p>',
    );
  });

  test('is allowed to members who did not send the message', async () => {
    expect((await edit(realm.member2, await send(newTopic()), { topic: newTopic() })).status).toBe(200);
  });

  test('sends a notice to the new topic by default, and to the old one only on request', async () => {
    const [topic, target] = [newTopic(), newTopic()];
    const ids = [await send(topic), await send(topic)];
    const queue = await realm.member2.queue();
    await realm.member.ok('PATCH', `/messages/${ids[0]}`, { topic: target, send_notification_to_old_thread: true });
    const isNotice = (subject: string) => (event: Json) =>
      event.type === 'message' &&
      event.message.sender_full_name === 'Notification Bot' &&
      event.message.subject === subject;
    for (const subject of [topic, target]) if (!queue.seen.some(isNotice(subject))) await queue.next(isNotice(subject));
    expect(queue.seen.filter(isNotice(target))).toHaveLength(1);
    expect(queue.seen.filter(isNotice(topic))).toHaveLength(1);
    const quiet = newTopic();
    await realm.member.ok('PATCH', `/messages/${ids[1]}`, { topic: quiet, send_notification_to_new_thread: false });
    const last = newTopic();
    await realm.member.ok('PATCH', `/messages/${ids[1]}`, { topic: last });
    await queue.next(isNotice(last));
    expect(queue.seen.filter(isNotice(quiet))).toEqual([]);
  });

  test('to the resolved name sends a notice that the topic is resolved', async () => {
    const topic = newTopic();
    const id = await send(topic);
    const queue = await realm.member2.queue();
    await realm.member2.ok('PATCH', `/messages/${id}`, { topic: `✔ ${topic}`, propagate_mode: 'change_all' });
    // Notices of earlier tests may still arrive.
    const { message } = await queue.next((event) => event.message?.subject === `✔ ${topic}`);
    expect(message.sender_full_name).toBe('Notification Bot');
    expect(message.content).toContain('resolved');
  });

  test('to the empty topic shows its display name to clients without empty_topic_name', async () => {
    const id = await send(newTopic());
    const old = await realm.member2.queue();
    const capable = await realm.member2.queue({ client_capabilities: { empty_topic_name: true } });
    await realm.member.ok('PATCH', `/messages/${id}`, { topic: '(no topic)' });
    expect((await old.next(isUpdate)).subject).toBe('general chat');
    expect((await capable.next(isUpdate)).subject).toBe('');
    expect((await history(realm.member, id)).at(-1)?.topic).toBe('general chat');
    expect((await history(realm.member, id, { allow_empty_topic_name: true })).at(-1)?.topic).toBe('');
    const changed = async (form: Json) =>
      (await realm.member.ok('GET', `/messages/${id}`, form)).message.edit_history[0];
    expect((await changed({})).topic).toBe('general chat');
    expect((await changed({ allow_empty_topic_name: true })).topic).toBe('');
  });
});

describe('moving between channels', () => {
  test('sends the new channel to users who can read both', async () => {
    const topic = newTopic();
    const id = await send(topic);
    const queue = await realm.member2.queue();
    await realm.member.ok('PATCH', `/messages/${id}`, { stream_id: otherId, topic: 'elsewhere' });
    expect(await queue.next(isUpdate)).toMatchObject({
      message_ids: [id],
      stream_id: openId,
      new_stream_id: otherId,
      orig_subject: topic,
      subject: 'elsewhere',
    });
    // A move to another channel that keeps the topic.
    const kept = await send(topic);
    await realm.member.ok('PATCH', `/messages/${kept}`, { stream_id: otherId, topic });
    const event = await queue.next((one) => isUpdate(one) && one.message_id === kept);
    expect(event).toMatchObject({ new_stream_id: otherId, orig_subject: topic });
    expect(['subject', 'topic_links'].filter((name) => name in event)).toEqual([]);
  });

  test('removes the messages from users who may not read the new channel', async () => {
    const topic = newTopic();
    const ids = [await send(topic), await send(topic)];
    const [losing, staying] = [
      await realm.member2.queue({ client_capabilities: { bulk_message_deletion: true } }),
      await realm.owner.queue(),
    ];
    await realm.member.ok('PATCH', `/messages/${ids[0]}`, { stream_id: closedId, propagate_mode: 'change_all' });
    expect(await losing.next(({ type }) => type === 'delete_message')).toMatchObject({
      message_type: 'stream',
      message_ids: ids,
      stream_id: openId,
      topic,
    });
    expect(losing.seen.filter(isUpdate)).toEqual([]);
    expect(await staying.next(isUpdate)).toMatchObject({ message_ids: ids, new_stream_id: closedId });
    expect((await realm.member2.get(`/messages/${ids[0]}/history`)).status).toBe(400);
  });

  test('still sends later changes and the deletion to recipients who are not subscribed to the new channel', async () => {
    await realm.owner.ok('DELETE', '/users/me/subscriptions', {
      subscriptions: ['other'],
      principals: [realm.member2.user_id],
    });
    const [one, two] = [await send(newTopic()), await send(newTopic())];
    const queue = await realm.member2.queue({ client_capabilities: { bulk_message_deletion: true } });
    await realm.member.ok('PATCH', `/messages/${one}`, { stream_id: otherId, topic: 'gone there' });
    await realm.member.ok('PATCH', `/messages/${two}`, { stream_id: otherId, topic: 'and there' });
    await realm.member.ok('PATCH', `/messages/${one}`, { topic: 'and there' });
    const isMoveOf = (id: number) => (event: Json) => isUpdate(event) && event.message_id === id;
    expect(await queue.next((event) => isMoveOf(one)(event) && event.stream_id === otherId)).toMatchObject({
      subject: 'and there',
    });
    const unread = async (): Promise<number[]> =>
      (await realm.member2.ok('POST', '/register')).unread_msgs.streams
        .filter((place: Json) => place.stream_id === otherId && place.topic === 'and there')
        .flatMap((place: Json) => place.unread_message_ids);
    expect(await unread()).toEqual([one, two]);
    await realm.owner.ok('DELETE', `/messages/${one}`);
    expect(await queue.next(({ type }) => type === 'delete_message')).toMatchObject({ message_ids: [one] });
    await realm.owner.ok('POST', `/streams/${otherId}/delete_topic`, { topic_name: 'and there' });
    const { message_ids } = await queue.next(({ type }) => type === 'delete_message');
    expect(message_ids).toContain(two);
    expect(await unread()).toEqual([]);
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'other' }],
      principals: [realm.member2.user_id],
    });
  });

  test('and back sends the deletion to a user who left meanwhile and still has the message unread', async () => {
    const id = await send(newTopic());
    const queue = await realm.member2.queue({ client_capabilities: { bulk_message_deletion: true } });
    await realm.member.ok('PATCH', `/messages/${id}`, { stream_id: otherId, topic: 'for a while' });
    const open = { principals: [realm.member2.user_id] };
    await realm.owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['open'], ...open });
    await queue.next((event) => event.type === 'subscription' && event.op === 'remove');
    await realm.member.ok('PATCH', `/messages/${id}`, { stream_id: openId, topic: 'back' });
    await queue.next((event) => isUpdate(event) && event.subject === 'back');
    await realm.owner.ok('DELETE', `/messages/${id}`);
    expect(await queue.next(({ type }) => type === 'delete_message')).toMatchObject({
      message_ids: [id],
      stream_id: openId,
    });
    await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }], ...open });
  });

  test('removes the messages from the flags and unread counts of users who lose them', async () => {
    const topic = newTopic();
    const ids = [await send(topic), await send(topic)];
    await realm.member2.ok('POST', '/messages/flags', { messages: ids, op: 'add', flag: 'starred' });
    await realm.member.ok('PATCH', `/messages/${ids[0]}`, { stream_id: closedId, propagate_mode: 'change_all' });
    const { starred_messages, unread_msgs } = await realm.member2.ok('POST', '/register');
    const unread = unread_msgs.streams.flatMap((one: Json) => one.unread_message_ids);
    for (const id of ids) expect([starred_messages.includes(id), unread.includes(id)]).toEqual([false, false]);
    const { topics } = await realm.member.ok('GET', `/users/me/${closedId}/topics`);
    expect(topics.map((one: Json) => one.name)).toContain(topic);
  });

  test('within a private channel sends a notice with a link to the new topic', async () => {
    const form = { type: 'channel', to: closedId, topic: 'old place', content: 'x' };
    const { id } = await realm.member.ok('POST', '/messages', form);
    const queue = await realm.member.queue({ apply_markdown: true });
    await realm.member.ok('PATCH', `/messages/${id}`, { topic: 'new place' });
    const { message } = await queue.next((event) => event.message?.subject === 'new place');
    expect(message.content).toContain(`<a class="stream-topic" data-stream-id="${closedId}"`);
  });

  test('that the user may not read returns the same error as for a missing one', async () => {
    const id = await send(newTopic());
    const [hidden, none] = [
      await edit(realm.member2, id, { stream_id: closedId }),
      await edit(realm.member2, id, { stream_id: 999_999 }),
    ];
    expect([hidden.status, hidden.body]).toEqual([400, none.body]);
  });

  test('is rejected for guests', async () => {
    for (const name of ['open', 'other'])
      await realm.owner.ok('POST', '/users/me/subscriptions', {
        subscriptions: [{ name }],
        principals: [realm.guest.user_id],
      });
    expect((await edit(realm.guest, await send(newTopic()), { stream_id: otherId })).status).toBe(400);
  });
});

describe('the history of a message', () => {
  test('has only the message itself if it never changed', async () => {
    const topic = newTopic();
    const id = await send(topic, 'only');
    const [first, ...more] = await history(realm.member2, id);
    expect(more).toEqual([]);
    expect(first).toEqual({
      topic,
      content: 'only',
      rendered_content: '<p>only</p>',
      timestamp: expect.any(Number),
      user_id: realm.member.user_id,
    });
  });

  test('contains the values after each change with the previous values, oldest first', async () => {
    const topic = newTopic();
    const id = await send(topic, 'one cat');
    await realm.member.ok('PATCH', `/messages/${id}`, { content: 'one dog' });
    await realm.member2.ok('PATCH', `/messages/${id}`, { topic: 'moved', stream_id: otherId });
    await realm.member.ok('PATCH', `/messages/${id}`, { content: 'two dogs', topic: 'again' });
    const [sent, edited, moved, both] = await history(realm.owner, id);
    expect(sent).toEqual({
      topic,
      content: 'one cat',
      rendered_content: '<p>one cat</p>',
      timestamp: expect.any(Number),
      user_id: realm.member.user_id,
    });
    expect(edited).toEqual({
      topic,
      content: 'one dog',
      rendered_content: '<p>one dog</p>',
      timestamp: expect.any(Number),
      user_id: realm.member.user_id,
      prev_content: 'one cat',
      prev_rendered_content: '<p>one cat</p>',
      content_html_diff:
        '<p>one <span class="highlight_text_inserted">dog</span> <span class="highlight_text_deleted">cat</span></p>',
    });
    expect(moved).toEqual({
      topic: 'moved',
      prev_topic: topic,
      stream: otherId,
      prev_stream: openId,
      content: 'one dog',
      rendered_content: '<p>one dog</p>',
      timestamp: expect.any(Number),
      user_id: realm.member2.user_id,
    });
    expect(both).toMatchObject({
      topic: 'again',
      prev_topic: 'moved',
      content: 'two dogs',
      prev_content: 'one dog',
      prev_rendered_content: '<p>one dog</p>',
    });
    expect(both).not.toHaveProperty('prev_stream');
  });
});
