import { expect, test } from 'vitest';
import { replyOf } from './webhook-format.ts';

const webhook = { base_url: '', interface: 1, token: '', email: '', full_name: '', owner_id: null };

test.each([
  [{ response_string: '', content: 'shown' }, 'shown'],
  [{ response_string: null, content: 'shown' }, 'shown'],
  [{ response_string: 'first', content: 'second' }, 'first'],
  [{ content: 42 }, '42'],
  [{ response_string: '', content: '' }, undefined],
  [{}, undefined],
])('the response %j leads to the reply %j', (response, content) =>
  expect(replyOf(webhook, JSON.stringify(response))?.content).toBe(content),
);

test.each([{ content: ['x'] }, { content: true }, { response_string: {} }])('the response %j is refused', (response) =>
  expect(() => replyOf(webhook, JSON.stringify(response))).toThrow('Invalid response format'),
);
