import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { modelOf } from './model.ts';
import type { Message } from './place.ts';
import { initialState, reduce } from './state.ts';

const channel = (stream_id: number, name: string) => ({ stream_id, name, is_archived: false });

const modelWith = (subscriptions: readonly ReturnType<typeof channel>[], unread: readonly number[] = []) =>
  modelOf({
    user_id: 7,
    realm_name: 'Realm',
    ...{ realm_users: [], realm_non_active_users: [], cross_realm_bots: [], subscriptions, user_topics: [] },
    ...{ recent_private_conversations: [], starred_messages: [], realm_emoji: {}, channel_folders: [] },
    unread_msgs: {
      ...{ pms: [], huddles: [], mentions: [] },
      streams: unread.map((id) => ({ stream_id: 1, topic: 't', unread_message_ids: [id] })),
    },
    ...{ drafts: [], scheduled_messages: [], reminders: [], realm_user_groups: [], user_settings: {} },
    ...{ user_status: {}, muted_users: [], alert_words: [], presences: {}, realm_bots: [] },
    ...{ realm_domains: [], realm_playgrounds: [], realm_default_streams: [] },
  } as never);

test('the last name of a channel is kept when the reader may no longer know the channel', () => {
  const event = (given: object) => ({ type: 'event' as const, event: given as ChatEvent });
  const removed = { type: 'subscription', op: 'remove', subscriptions: [{ stream_id: 1 }] };
  const renamed = { type: 'stream', op: 'update', stream_id: 1, property: 'name', value: 'vault' };
  const before = initialState(modelWith([channel(1, 'safe'), channel(2, 'attic'), channel(3, 'general')]));
  const left = [renamed, removed].reduce((state, one) => reduce(state, event(one)), before);
  expect([...left.former]).toEqual([[1, 'vault']]);
  const again = reduce(left, { type: 'snapshot', model: modelWith([channel(3, 'general')]), shownKey: undefined });
  expect([...again.former]).toEqual([
    [1, 'vault'],
    [2, 'attic'],
  ]);
  const channels = [{ stream_id: 4, name: 'public', description: '', invite_only: false }];
  const listed = reduce(again, { type: 'listed', channels, since: [] });
  const joined = { type: 'subscription', op: 'add', subscriptions: [channel(4, 'public')] };
  const deleted = { type: 'stream', op: 'delete', stream_ids: [4], streams: [] };
  const changed = [joined, deleted].reduce((state, one) => reduce(state, event(one)), listed);
  expect(changed.former.get(4)).toBe('public');
});

test('an edit changes the flags that follow from the text, and keeps those that the reader has set', () => {
  const opened = (id: number, flags: readonly string[], stale: readonly string[]) => {
    const message = { id, type: 'stream', stream_id: 1, subject: 't', flags, reactions: [] } as unknown as Message;
    const page = {
      narrow: { kind: 'feed' },
      messages: [message],
      foundOldest: true,
      foundNewest: true,
      since: [],
    } as const;
    const edit = {
      type: 'update_message',
      message_id: id,
      message_ids: [id],
      flags: stale,
      rendered_content: '<p>x</p>',
    };
    const before = reduce(initialState(modelWith([channel(1, 'general')], [2])), { type: 'opened', page });
    const { messages, model } = reduce(before, { type: 'event', event: edit as unknown as ChatEvent });
    return [messages.get(id)?.flags, [...model.marks.mentions]];
  };
  expect(opened(1, ['read', 'starred'], [])).toEqual([['read', 'starred'], []]);
  expect(opened(1, ['read', 'has_alert_word'], ['mentioned'])).toEqual([['read', 'mentioned'], []]);
  expect(opened(2, ['wildcard_mentioned'], ['read', 'mentioned'])).toEqual([['mentioned'], [2]]);
  expect(opened(2, ['mentioned'], [])).toEqual([[], []]);
});
