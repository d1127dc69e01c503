import { expect, test } from 'vitest';
import { widgetGiven, widgetOfCommand } from './widget-command.ts';

test.each([
  ['/poll Lunch?', { question: 'Lunch?', options: [] }],
  ['/poll  Lunch? \n- pizza\n* pasta\n\n  soup  ', { question: 'Lunch?', options: ['pizza', 'pasta', 'soup'] }],
  ['/poll\npizza', { question: '', options: ['pizza'] }],
  ['/poll', { question: '', options: [] }],
])('%j is a poll', (content, extra_data) => {
  expect(widgetOfCommand(content)).toEqual({ widget_type: 'poll', extra_data });
});

test.each([
  ['/todo', { task_list_title: '', tasks: [] }],
  [
    '/todo School work\nread: chapter 1: all\n- write',
    {
      task_list_title: 'School work',
      tasks: [
        { task: 'read', desc: 'chapter 1: all' },
        { task: 'write', desc: '' },
      ],
    },
  ],
])('%j is a list of tasks', (content, extra_data) => {
  expect(widgetOfCommand(content)).toEqual({ widget_type: 'todo', extra_data });
});

test.each(['/polls x', ' /poll x', 'a /poll', '/me /poll', '/pollx', 'poll'])('%j is plain text', (content) => {
  expect(widgetOfCommand(content)).toBeUndefined();
});

const choice = { type: 'multiple_choice', long_name: 'Red', short_name: 'A', reply: 'answer A' };
const form = { widget_type: 'zform', extra_data: { type: 'choices', heading: 'Colour?', choices: [choice] } };

test('a form of choices is accepted', () => {
  expect(widgetGiven(JSON.stringify(form))).toEqual(form);
});

test.each([
  '{',
  '[]',
  '{"widget_type":"poll","extra_data":{}}',
  '{"widget_type":"zform"}',
  '{"widget_type":"zform","extra_data":{"type":"letters"}}',
  JSON.stringify({ ...form, extra_data: { ...form.extra_data, heading: 7 } }),
  JSON.stringify({ ...form, extra_data: { ...form.extra_data, choices: [{ ...choice, reply: undefined }] } }),
])('%s is not a widget', (text) => {
  expect(() => widgetGiven(text)).toThrow(/^Widgets: /);
});
