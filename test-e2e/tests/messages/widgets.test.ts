import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { beforeDue } from '../scheduled-messages/soon.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const send = async (content: string, form: Json = {}): Promise<number> =>
  (await realm.member.ok('POST', '/messages', { type: 'direct', to: [realm.member2.user_id], content, ...form })).id;
const add = (who: Client, message_id: number, data: Json) =>
  who.post('/submessage', { message_id, msg_type: 'widget', content: JSON.stringify(data) });
const read = async (id: number): Promise<Json> => (await realm.member2.ok('GET', `/messages/${id}`)).message;

test('the first submessage of a poll contains its question, in the event and when it is read', async () => {
  const queue = await realm.member2.queue({ event_types: ['message', 'submessage'] });
  const id = await send('/poll Lunch?\n- pizza\n- soup');
  const poll = { widget_type: 'poll', extra_data: { question: 'Lunch?', options: ['pizza', 'soup'] } };
  const { message } = await queue.next((event) => event.type === 'message');
  expect(message.submessages).toEqual([
    {
      id: expect.any(Number),
      message_id: id,
      sender_id: realm.member.user_id,
      msg_type: 'widget',
      content: expect.any(String),
    },
  ]);
  expect(JSON.parse(message.submessages[0].content)).toEqual(poll);
  expect((await read(id)).submessages).toEqual(message.submessages);
  const vote = { type: 'vote', key: 'canned,0', vote: 1 };
  expect((await add(realm.member2, id, vote)).status).toBe(200);
  const event = await queue.next(({ type }) => type === 'submessage');
  expect(event).toMatchObject({ msg_type: 'widget', message_id: id, sender_id: realm.member2.user_id });
  expect(JSON.parse(event.content)).toEqual(vote);
  const { submessages } = await read(id);
  expect(submessages[1]).toEqual({
    id: event.submessage_id,
    message_id: id,
    sender_id: realm.member2.user_id,
    msg_type: 'widget',
    content: event.content,
  });
});

test('newlines before a command are removed', async () => {
  const message = await read(await send('\n\n/poll Lunch?'));
  expect(message.submessages).toHaveLength(1);
  expect(message.content).toBe('<p>/poll Lunch?</p>');
});

test('a todo list contains its title and its tasks', async () => {
  const id = await send('/todo Moving\nboxes: twenty of them\ntape');
  const { submessages } = await read(id);
  expect(JSON.parse(submessages[0].content)).toEqual({
    widget_type: 'todo',
    extra_data: {
      task_list_title: 'Moving',
      tasks: [
        { task: 'boxes', desc: 'twenty of them' },
        { task: 'tape', desc: '' },
      ],
    },
  });
  expect((await add(realm.member2, id, { type: 'strike', key: '0,canned' })).status).toBe(200);
});

test('invalid submessages of polls and lists are rejected, and only the author can change the question', async () => {
  const poll = await send('/poll Where?');
  const todo = await send('/todo');
  for (const [id, data] of [
    [poll, { type: 'vote', key: 'canned,0', vote: 2 }],
    [poll, { type: 'vote', key: 1, vote: 1 }],
    [poll, { type: 'vote', key: 'x'.repeat(201), vote: 1 }],
    [poll, { type: 'new_option', option: 'x'.repeat(10_001), idx: 1 }],
    [todo, { type: 'new_task', key: 1, task: 'x'.repeat(10_001), desc: '', completed: false }],
    [poll, { type: 'dance' }],
    [poll, { type: 'new_option', option: 'x' }],
    [poll, 7],
    [todo, { type: 'vote', key: 'canned,0', vote: 1 }],
    [todo, { type: 'new_task', key: 1, task: 'x', desc: 'y', completed: 'no' }],
  ] as const) {
    const { status, body } = await add(realm.member, id, data);
    expect([data, status, body.code]).toEqual([data, 400, 'BAD_REQUEST']);
  }
  const question = { type: 'question', question: 'When?' };
  expect((await add(realm.member2, poll, question)).status).toBe(400);
  expect((await add(realm.member, poll, question)).status).toBe(200);
  const title = { type: 'new_task_list_title', title: 'Chores' };
  expect((await add(realm.member2, todo, title)).status).toBe(400);
  expect((await add(realm.member, todo, title)).status).toBe(200);
});

test('a widget cannot be edited', async () => {
  const id = await send('/poll Why?');
  const { status, body } = await realm.member.patch(`/messages/${id}`, { content: 'changed' });
  expect([status, body.msg]).toEqual([400, 'Widgets cannot be edited.']);
});

test('a bot can send a form of choices, and an invalid form is rejected', async () => {
  const form = {
    widget_type: 'zform',
    extra_data: {
      type: 'choices',
      heading: 'Colour?',
      choices: [{ type: 'multiple_choice', short_name: 'A', long_name: 'Red', reply: 'red' }],
    },
  };
  const id = await send('Colour?', { widget_content: JSON.stringify(form) });
  expect(JSON.parse((await read(id)).submessages[0].content)).toEqual(form);
  for (const widget_content of ['{', '{}', JSON.stringify({ ...form, widget_type: 'letters' })]) {
    const sent = await realm.member.post('/messages', {
      type: 'direct',
      to: [realm.member2.user_id],
      content: 'x',
      widget_content,
    });
    expect([sent.status, sent.body.code]).toEqual([400, 'BAD_REQUEST']);
  }
});

test('a scheduled poll becomes a poll when it is sent', async () => {
  const queue = await realm.member2.queue({ event_types: ['message'] });
  const form = { type: 'direct', to: [realm.member2.user_id], content: '/poll Later?' };
  await beforeDue((at) =>
    realm.member.ok('POST', '/scheduled_messages', { ...form, scheduled_delivery_timestamp: at }),
  );
  const { message } = await queue.next((event) => event.type === 'message', 120_000);
  expect(JSON.parse(message.submessages[0].content).extra_data.question).toBe('Later?');
});

test('a widget type or data type that is named like a built-in property does not cause an error', async () => {
  const id = await send('no widget yet');
  expect((await add(realm.member, id, { widget_type: 'constructor' })).status).toBe(200);
  expect((await add(realm.member2, id, { type: 'assign' })).status).toBe(200);
  const poll = await send('/poll Lunch?');
  const { status, body } = await add(realm.member2, poll, { type: 'constructor' });
  expect([status, body.msg]).toEqual([400, 'Unknown type for poll data: constructor']);
});
