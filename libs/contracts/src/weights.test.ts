import { expect, test } from 'vitest';
import { operations } from './index.ts';

/** The weight of a request with these parameters, as the gateway counts it. */
function weightOf(name: string, params: Record<string, unknown>): number {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`no operation ${name}`);
  return operation.weight + Math.floor(operation.weigh?.(params as never) ?? 0);
}

const ids = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const links = (count: number): string => '[file](/user_uploads/1/ab/abcdefghijklmnopqrstuvwx/a.txt)'.repeat(count);
const search = [{ operator: 'search', operand: 'word' }];
const page = { num_before: 50, num_after: 50 };

test.each<[weight: number, name: string, params: Record<string, unknown>]>([
  [2, 'update-message', { propagate_mode: 'change_one' }],
  [5, 'update-message', { propagate_mode: 'change_later' }],
  [5, 'update-message', { propagate_mode: 'change_all' }],
  [2, 'get-messages', page],
  [2, 'get-messages', { ...page, narrow: [['topic', 'search']] }],
  [2, 'get-messages', { ...page, narrow: 'search' }],
  [5, 'get-messages', { ...page, narrow: search }],
  [5, 'get-messages', { ...page, narrow: [['search', 'word']] }],
  [6, 'get-messages', { ...page, narrow: [['search', '"a word" "another"']] }],
  [10, 'get-messages', { ...page, narrow: [{ operator: 'search', operand: '"x"'.repeat(333) }] }],
  [5, 'get-messages', { ...page, narrow: [['search', 1], ['search']] }],
  [5, 'match-narrow', { msg_ids: ids(1), narrow: search }],
  [8, 'update-message-flags-for-narrow', { ...page, narrow: search }],
  [3, 'mark-topic-as-read', {}],
  [5, 'mark-stream-as-read', {}],
  [5, 'mark-all-as-read', {}],
  [2, 'update-subscriptions', { subscription_data: ids(49) }],
  [202, 'update-subscriptions', { subscription_data: ids(10_000) }],
  [10, 'subscribe', { subscriptions: ids(10) }],
  [30, 'subscribe', { subscriptions: ids(10), principals: ids(1_000) }],
  [25, 'unsubscribe', { subscriptions: ids(10), principals: ids(1_000) }],
  [50, 'create-channel', { subscribers: ids(20_000) }],
  [103, 'update-user-group-members', { add: ids(20_000), delete: [], add_subgroups: [], delete_subgroups: [] }],
  [5, 'get-message-history', {}],
  [5, 'get-attachments', {}],
  [2, 'get-topics', {}],
  [1, 'get-bot-storage', { keys: ids(1) }],
  [21, 'get-bot-storage', {}],
  [1, 'update-bot-storage', { storage: { key: 'value' } }],
  [101, 'update-bot-storage', { storage: Object.fromEntries(ids(10_000).map((key) => [key, ''])) }],
  [11, 'update-bot-storage', { storage: { key: 'x'.repeat(1_000_000) } }],
  [21, 'delete-bot-storage', { keys: ids(10_000) }],
  [21, 'delete-bot-storage', {}],
  [41, 'create-invite-link', { group_ids: ids(1_000), stream_ids: ids(1_000) }],
  [21, 'edit-invite-link', { group_ids: ids(1_000) }],
  [60, 'send-invites', { group_ids: ids(1_000), stream_ids: ids(1_000) }],
  [60, 'update-own-profile-data', { data: ids(100) }],
  [60, 'remove-own-profile-data', { data: ids(100) }],
  [52, 'update-user', { profile_data: ids(100) }],
  [1, 'send-message', { type: 'channel', to: 'a, b, c' }],
  [1, 'send-message', { type: 'direct', to: ids(24) }],
  [11, 'send-message', { type: 'direct', to: ids(250) }],
  [11, 'send-message', { type: 'private', to: ids(250).join(',') }],
  [11, 'create-scheduled-message', { type: 'direct', to: ids(250) }],
  [1, 'send-message', { type: 'channel', to: 1, content: links(9) }],
  [11, 'send-message', { type: 'channel', to: 1, content: links(100) }],
  [11, 'send-message', { type: 'channel', to: 1, content: links(1_000) }],
  [21, 'send-message', { type: 'direct', to: ids(250), content: links(100) }],
  [12, 'update-message', { propagate_mode: 'change_one', content: links(100) }],
  [11, 'create-scheduled-message', { type: 'channel', to: 1, content: links(100) }],
  [12, 'edit-scheduled-message', { to: 1, content: links(100) }],
  [1, 'update-presence', { ping_only: true }],
  [3, 'update-presence', { ping_only: false }],
  [1, 'update-user-group', { name: 'x' }],
  [5, 'update-user-group', { deactivated: true }],
  [10, 'update-user-group', { deactivated: false }],
  [3, 'create-reminder', { note: links(20) }],
  [3, 'update-user-topic', {}],
  [3, 'update-muted-topic', {}],
  [12, 'edit-scheduled-message', { to: ids(250) }],
  [11, 'set-typing', { type: 'direct', to: ids(250) }],
  [10, 'update-bot', {}],
  [12, 'update-bot', { file: 'x' }],
  [5, 'create-bot', { file: 'x' }],
  [103, 'create-user-group', { members: ids(20_000), subgroups: [] }],
  [12, 'create-user-group', { members: [], subgroups: [1] }],
  [3, 'update-subgroups', { add: [], delete: [] }],
  [12, 'update-subgroups', { add: [1], delete: [] }],
  [12, 'update-subgroups', { add: [], delete: [1] }],
  [12, 'update-user-group-members', { add: [], delete: [], add_subgroups: [1], delete_subgroups: [] }],
])('%i: %s', (weight, name, params) => {
  expect(weightOf(name, params)).toBe(weight);
});
