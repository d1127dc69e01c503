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
    '/todo School work\nread: chapter 1: all\n- write\nhttps://example.com:  at 12:30',
    {
      task_list_title: 'School work',
      tasks: [
        { task: 'read', desc: 'chapter 1: all' },
        { task: 'write', desc: '' },
        { task: 'https://example.com', desc: 'at 12:30' },
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

test('a form of choices is accepted, and keeps keys that are not known', () => {
  expect(widgetGiven(JSON.stringify(form))).toEqual(form);
  const { type: _, ...untyped } = choice;
  const extended = { ...form, extra_data: { ...form.extra_data, choices: [untyped], colour: 'red' } };
  expect(widgetGiven(JSON.stringify(extended))).toEqual(extended);
});

test.each([
  '{',
  '[]',
  `{"widget_type":"zform","extra_data":{"type":{"toString":1}}}`,
  '{"widget_type":"poll","extra_data":{}}',
  '{"widget_type":"zform"}',
  '{"widget_type":"zform","extra_data":{"type":"letters"}}',
  JSON.stringify({ ...form, extra_data: { ...form.extra_data, heading: 7 } }),
  JSON.stringify({ ...form, extra_data: { ...form.extra_data, choices: [{ ...choice, reply: undefined }] } }),
])('%s is not a widget', (text) => {
  expect(() => widgetGiven(text)).toThrow(/^Widgets: /);
});

test.each(['x', 'type'])('a form whose %s is nested too deeply is refused', (key) => {
  const nested = (levels: number): string => {
    const extra = JSON.stringify({ ...form.extra_data, [key]: 0 });
    return `{"widget_type":"zform","extra_data":${extra.replace(`"${key}":0`, `"${key}":${'['.repeat(levels)}${']'.repeat(levels)}`)}}`;
  };
  expect(() => widgetGiven(nested(10_000))).toThrow('Widgets: nested too deeply (limit: 400 levels)');
  if (key === 'x') expect(widgetGiven(nested(398))).toEqual(JSON.parse(nested(398)));
});

test('a refusal repeats only the beginning of an unknown type', () => {
  const type = 'x'.repeat(10_000);
  const refusalOf = (widget: unknown) => () => widgetGiven(JSON.stringify(widget));
  expect(refusalOf({ ...form, widget_type: type })).toThrow(/^Widgets: unknown widget type: x{100}$/);
  expect(refusalOf({ ...form, extra_data: { type: [type] } })).toThrow(/^Widgets: unknown zform type: \["x{98}$/);
});
