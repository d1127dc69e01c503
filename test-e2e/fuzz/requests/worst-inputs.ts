/** The most expensive requests found by reviews and the fuzzer. Add new ones here. */
import { slowMarkup } from './hostile.ts';

interface WorstRequest {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  form?: Record<string, unknown>;
  /** A body that replaces the form. */
  raw?: { contentType: string; body: string };
}

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);
const cut =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: text/plain\r\n\r\nunfinished';
/** A PNG that claims 65,535 × 65,535 pixels. */
const claimedPng = Buffer.from('89504e470d0a1a0a0000000d494844520000ffff0000ffff0806000000', 'hex').toString('latin1');
const upload = (bytes: string): string =>
  `--x\r\nContent-Disposition: form-data; name="file"; filename="f.png"\r\nContent-Type: image/png\r\n\r\n${bytes}\r\n--x--\r\n`;
const multipart = 'multipart/form-data; boundary=x';
const terms = Array.from({ length: 20_000 }, () => ['is', 'unread']);

export const worstRequests = (channelId: number): WorstRequest[] => [
  ...slowMarkup.flatMap((make, index): WorstRequest[] => {
    const content = make().slice(0, 10_000);
    return [
      { name: `render ${index}`, method: 'POST', path: '/messages/render', form: { content } },
      {
        name: `send ${index}`,
        method: 'POST',
        path: '/messages',
        form: { type: 'channel', to: channelId, topic: 'worst', content },
      },
    ];
  }),
  { name: 'cut multipart', method: 'POST', path: '/user_uploads', raw: { contentType: multipart, body: cut } },
  {
    name: 'large upload',
    method: 'POST',
    path: '/user_uploads',
    raw: { contentType: multipart, body: upload('x'.repeat(500_000)) },
  },
  {
    name: 'claimed picture',
    method: 'POST',
    path: '/users/me/avatar',
    raw: { contentType: multipart, body: upload(claimedPng) },
  },
  ...['((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})', '(?:(?:){1000}){1000}', '(a|a)*b'].map(
    (pattern): WorstRequest => ({
      name: `pattern ${pattern}`,
      method: 'POST',
      path: '/realm/filters',
      form: { pattern, url_template: 'https://x.example/{a}' },
    }),
  ),
  {
    name: 'large topic',
    method: 'POST',
    path: '/typing',
    form: { type: 'stream', op: 'start', stream_id: channelId, topic: 'x'.repeat(500_000) },
  },
  {
    name: 'many narrow terms',
    method: 'POST',
    path: '/messages/flags/narrow',
    form: { anchor: 'newest', num_before: 5_000, num_after: 0, op: 'add', flag: 'read', narrow: terms },
  },
  { name: 'narrow of a register', method: 'POST', path: '/register', form: { narrow: terms } },
  { name: 'register', method: 'POST', path: '/register' },
  {
    name: 'many alert words',
    method: 'POST',
    path: '/users/me/alert_words',
    form: { alert_words: Array.from({ length: 20_000 }, (_, index) => `word${index}`) },
  },
  {
    name: 'many drafts',
    method: 'POST',
    path: '/drafts',
    form: { drafts: Array.from({ length: 5_000 }, () => ({ type: '', to: [], topic: '', content: 'x' })) },
  },
  {
    name: 'many profile values',
    method: 'PATCH',
    path: '/users/me/profile_data',
    form: { data: Array.from({ length: 20_000 }, (_, id) => ({ id, value: 'x' })) },
  },
  {
    name: 'large local ID',
    method: 'POST',
    path: '/messages',
    form: { type: 'channel', to: channelId, topic: 'x', content: 'x', local_id: 'x'.repeat(500_000) },
  },
  { name: 'nested lists', method: 'PATCH', path: '/users/me/profile_data', form: { data: nested('[', ']', 100_000) } },
  {
    name: 'nested objects',
    method: 'POST',
    path: '/register',
    form: { client_capabilities: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}` },
  },
  {
    name: 'prototype operand',
    method: 'GET',
    path: '/messages',
    form: { anchor: 'newest', num_before: 1, num_after: 0, narrow: [{ operator: 'search', operand: { toString: 1 } }] },
  },
  {
    name: 'search',
    method: 'GET',
    path: '/messages',
    form: {
      anchor: 'newest',
      num_before: 5_000,
      num_after: 0,
      narrow: [{ operator: 'search', operand: 'a | b | c | !d & e' }],
    },
  },
  {
    name: 'oldest messages',
    method: 'GET',
    path: '/messages',
    form: { anchor: 'oldest', num_before: 0, num_after: 5_000 },
  },
  {
    name: 'many fields',
    method: 'POST',
    path: '/messages',
    raw: { contentType: 'application/x-www-form-urlencoded', body: 'a=1&'.repeat(100_000) },
  },
  {
    name: 'new password',
    method: 'PATCH',
    path: '/settings',
    form: { old_password: 'x'.repeat(100), new_password: 'y'.repeat(100) },
  },
  {
    name: 'log in',
    method: 'POST',
    path: '/fetch_api_key',
    form: { username: 'nobody@natter.example', password: 'x'.repeat(100) },
  },
  { name: 'all users', method: 'GET', path: '/users', form: { include_custom_profile_fields: true } },
];
