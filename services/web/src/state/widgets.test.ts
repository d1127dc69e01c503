import { expect, test } from 'vitest';
import type { Message } from './place.ts';
import { widgetOf } from './widgets.ts';

const author = 5;
const reader = 7;

const messageWith = (...said: [by: number, content: unknown][]): Message =>
  ({
    id: 1,
    sender_id: author,
    submessages: said.map(([sender_id, content], id) => ({
      id,
      message_id: 1,
      sender_id,
      msg_type: 'widget',
      content: typeof content === 'string' ? content : JSON.stringify(content),
    })),
  }) as unknown as Message;

const poll = { widget_type: 'poll', extra_data: { question: 'Lunch?', options: ['pizza', 'soup', 'pizza'] } };
const todo = { widget_type: 'todo', extra_data: { task_list_title: '', tasks: [{ task: 'boxes', desc: 'twenty' }] } };

test('votes are counted once for each voter, and taken back', () => {
  const vote = (key: string, count: number) => ({ type: 'vote', key, vote: count });
  const message = messageWith(
    [author, poll],
    [reader, vote('canned,1', 1)],
    [reader, vote('canned,1', 1)],
    [author, vote('canned,1', 1)],
    [author, vote('canned,0', 1)],
    [author, vote('canned,0', -1)],
    [author, vote('canned,9', 1)],
  );
  expect(widgetOf(message, reader)).toEqual({
    kind: 'poll',
    question: 'Lunch?',
    options: [
      { key: 'canned,0', text: 'pizza', voters: [] },
      { key: 'canned,1', text: 'soup', voters: [reader, author] },
    ],
    nextIndex: 0,
  });
});

test('readers can add options, an existing option is not added, and only the author changes the question', () => {
  const message = messageWith(
    [author, poll],
    [reader, { type: 'new_option', option: 'salad', idx: 4 }],
    [author, { type: 'new_option', option: 'soup', idx: 1 }],
    [reader, { type: 'question', question: 'Mine?' }],
    [author, { type: 'question', question: 'Supper?' }],
    [author, { type: 'vote', key: `${reader},4`, vote: 1 }],
  );
  const widget = widgetOf(message, reader);
  expect(widget).toMatchObject({ question: 'Supper?', nextIndex: 5 });
  expect(widget).toHaveProperty('options.2', { key: `${reader},4`, text: 'salad', voters: [author] });
  expect(widget).not.toHaveProperty('options.3');
});

test('all readers can complete and reopen tasks, and only the author changes the title', () => {
  const message = messageWith(
    [author, todo],
    [reader, { type: 'new_task', key: 0, task: 'tape', desc: '', completed: false }],
    [reader, { type: 'strike', key: '0,canned' }],
    [author, { type: 'strike', key: `0,${reader}` }],
    [reader, { type: 'strike', key: `0,${reader}` }],
    [reader, { type: 'new_task_list_title', title: 'Mine' }],
  );
  expect(widgetOf(message, reader)).toEqual({
    kind: 'todo',
    title: '',
    tasks: [
      { key: '0,canned', task: 'boxes', detail: 'twenty', isDone: true },
      { key: `0,${reader}`, task: 'tape', detail: '', isDone: false },
    ],
    nextIndex: 1,
  });
});

test('a reader who used the last index cannot add more options', () => {
  const last = { type: 'new_option', option: 'last', idx: 1_000 };
  expect(widgetOf(messageWith([author, poll], [reader, last]), reader)).toHaveProperty('nextIndex', undefined);
});

test('at most a thousand options or tasks are shown', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `${index}`);
  const options = { widget_type: 'poll', extra_data: { question: '', options: many } };
  const tasks = { widget_type: 'todo', extra_data: { tasks: many.map((task) => ({ task })) } };
  expect(widgetOf(messageWith([author, options]), reader)).toHaveProperty('options.length', 1_000);
  expect(widgetOf(messageWith([author, tasks]), reader)).toHaveProperty('tasks.length', 1_000);
});

test.each<unknown>([
  '{',
  'null',
  7,
  [],
  { widget_type: 'poll' },
  { widget_type: 'poll', extra_data: { question: {}, options: [{}, null, 7] } },
  { widget_type: 'todo', extra_data: { task_list_title: [], tasks: 'all' } },
  { widget_type: 'zform', extra_data: {} },
  { widget_type: '__proto__', extra_data: {} },
])('%j has no widget or a widget without content', (content) => {
  const odd = ['{', 'null', { type: 'vote', key: '__proto__', vote: 1 }, { type: 'strike', key: 'constructor' }];
  const widget = widgetOf(
    messageWith([author, content], ...odd.map((one): [number, unknown] => [reader, one])),
    reader,
  );
  expect(widget?.kind === 'poll' ? widget.options : (widget?.tasks ?? [])).toEqual([]);
});

test('a message without submessages has no widget', () => {
  expect(widgetOf(messageWith(), reader)).toBeUndefined();
});
