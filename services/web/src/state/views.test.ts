import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { keyOf, type Message, type Narrow, topicPlace } from './place.ts';
import { initialState, reduce, type State } from './state.ts';
import { isMoveFrom, type Page, type View } from './views.ts';

const channelId = 5;
const feed: Narrow = { kind: 'feed' };
const lunch = topicPlace(channelId, 'lunch');
const model = { ownId: 7, channels: new Map(), policies: new Map(), presence: { people: new Map() } };

const messageOf = (id: number, subject = 'lunch'): Message =>
  ({ id, type: 'stream', stream_id: channelId, subject, flags: ['read'], reactions: [] }) as unknown as Message;

/** A view of the messages 100, 102 and so on to 118. */
function stateWith(narrow: Narrow, ends: Partial<Page> = {}): State {
  const messages = Array.from({ length: 10 }, (_, index) => messageOf(100 + 2 * index));
  const page: Page = { narrow, messages, foundOldest: false, foundNewest: false, since: [], ...ends };
  return reduce(initialState(model as never), { type: 'opened', page });
}
const viewOf = ({ views }: State, narrow: Narrow): View => views.get(keyOf(narrow)) as View;

const moveOf = (ids: readonly number[], from: string, to: string): ChatEvent =>
  ({
    type: 'update_message',
    message_id: ids[0],
    message_ids: ids,
    stream_id: channelId,
    orig_subject: from,
    subject: to,
    flags: [],
    propagate_mode: 'change_all',
  }) as unknown as ChatEvent;

/** The view after the move of a message that was never loaded. */
function afterMove(narrow: Narrow, id: number, ends?: Partial<Page>): View {
  const state = stateWith(narrow, ends);
  const shown = reduce(state, { type: 'opened', page: pageOf(narrow, state, moveOf([id], 'dinner', 'lunch'), ends) });
  return viewOf(shown, narrow);
}
const pageOf = (narrow: Narrow, state: State, event: ChatEvent, ends: Partial<Page> = {}): Page => ({
  narrow,
  messages: viewOf(state, narrow).ids.map((id) => messageOf(id)),
  foundOldest: false,
  foundNewest: false,
  since: [event],
  ...ends,
});

test('a move of messages outside the loaded range does not change a list', () => {
  for (const narrow of [feed, lunch]) {
    for (const id of [50, 200]) expect(afterMove(narrow, id)).toMatchObject({ isStale: false });
    expect(afterMove(narrow, 50, { foundNewest: true })).toMatchObject({ isStale: false });
    expect(afterMove(narrow, 200, { foundOldest: true })).toMatchObject({ isStale: false });
  }
});

test('a list that may lack a moved message stays on screen, until it is loaded again', () => {
  for (const [id, ends] of [
    [105, {}],
    [50, { foundOldest: true }],
    [200, { foundNewest: true }],
  ] as const) {
    const view = afterMove(lunch, id, ends);
    expect([id, view.isStale, view.ids.length]).toEqual([id, true, 10]);
  }
  const state = stateWith(lunch);
  const stale = reduce(state, { type: 'opened', page: pageOf(lunch, state, moveOf([105], 'dinner', 'lunch')) });
  const again = reduce(stale, { type: 'opened', page: { ...pageOf(lunch, stale, moveOf([1], 'a', 'b')), since: [] } });
  expect(viewOf(again, lunch).isStale).toBe(false);
});

test('a topic may lack messages that were moved from another channel and kept their topic', () => {
  const { subject: _, ...kept } = moveOf([105], 'lunch', 'lunch') as never as { subject: string };
  const move = { ...kept, stream_id: 6, new_stream_id: channelId } as unknown as ChatEvent;
  const state = stateWith(lunch);
  const shown = reduce(state, { type: 'opened', page: pageOf(lunch, state, move) });
  expect(viewOf(shown, lunch)).toMatchObject({ isStale: true });
});

test('a list that lost events stays, but new messages are not appended before it is loaded again', () => {
  const state = stateWith(lunch, { foundNewest: true });
  const fresh = reduce(state, { type: 'snapshot', model: state.model, shownKey: keyOf(lunch) });
  expect(viewOf(fresh, lunch)).toMatchObject({ hasNewest: false, isStale: true });
  expect(viewOf(fresh, lunch).ids).toEqual(viewOf(state, lunch).ids);
  const later = pageOf(lunch, fresh, { type: 'message', message: messageOf(300), flags: [] } as unknown as ChatEvent);
  const extended = reduce(fresh, { type: 'extended', page: { ...later, messages: [messageOf(120)] } });
  expect(viewOf(extended, lunch).ids.slice(-2)).toEqual([118, 120]);
  expect(reduce(state, { type: 'snapshot', model: state.model, shownKey: undefined }).views.size).toBe(0);
});

test('a move matches the topic where the messages were, in any spelling', () => {
  const move = moveOf([100], 'Lunch', '✔ Lunch');
  expect(isMoveFrom(move, keyOf(lunch))).toBe(true);
  expect(isMoveFrom(move, keyOf(topicPlace(channelId, '✔ lunch')))).toBe(false);
  expect(isMoveFrom(move, keyOf(topicPlace(6, 'lunch')))).toBe(false);
  expect(isMoveFrom({ ...move, orig_subject: undefined } as never, keyOf(lunch))).toBe(false);
});

const policyOf = (topic_name: string, visibility_policy: number): ChatEvent =>
  ({ type: 'user_topic', stream_id: channelId, topic_name, visibility_policy }) as unknown as ChatEvent;
const ofChannel = (op: string, more: object): ChatEvent => ({ type: 'subscription', op, ...more }) as never;
const channelMuted = (value: boolean): ChatEvent =>
  ofChannel('update', { stream_id: channelId, property: 'is_muted', value });
const arrivalOf = (id: number, topic: string): ChatEvent =>
  ({ type: 'message', message: messageOf(id, topic), flags: ['read'] }) as unknown as ChatEvent;
const channels = new Map([[channelId, { id: channelId, isMuted: false, isArchived: false, permissions: {} }]]);
const wholeModel = {
  ...{ ...model, channels, archived: new Map(), unread: new Map(), archivedUnread: new Map(), followed: new Map() },
  marks: { mentions: new Set() },
};

test('a list of a channel may lack messages when the reader subscribes to the channel', () => {
  const ends = { foundNewest: true };
  const joined = (narrow: Narrow, id: number): View => {
    const state = stateWith(narrow, ends);
    const event = ofChannel('add', { subscriptions: [{ stream_id: id }] });
    return viewOf(reduce(state, { type: 'opened', page: pageOf(narrow, state, event, ends) }), narrow);
  };
  const ofChannelItself: Narrow = { kind: 'channel', channelId };
  for (const narrow of [lunch, ofChannelItself])
    expect(joined(narrow, channelId)).toMatchObject({ isStale: true, hasNewest: false });
  for (const one of [joined(lunch, 6), joined({ kind: 'mentions' }, channelId)])
    expect(one).toMatchObject({ isStale: false, hasNewest: true });
});

/** The feed with messages of two topics after some events. */
function feedAfter(...events: ChatEvent[]): Pick<View, 'ids' | 'isStale'> {
  const messages = [messageOf(1, 'noise'), messageOf(2, 'lunch')];
  const page: Page = { narrow: feed, messages, foundOldest: true, foundNewest: true, since: [] };
  const opened = reduce(initialState(wholeModel as never), { type: 'opened', page });
  const { ids, isStale } = viewOf(
    events.reduce((state, event) => reduce(state, { type: 'event', event }), opened),
    feed,
  );
  return { ids, isStale };
}

test('messages of a muted topic or channel leave the feed', () => {
  const arrivals = [arrivalOf(3, 'noise'), arrivalOf(4, 'lunch')];
  expect(feedAfter(policyOf('noise', 1), ...arrivals)).toEqual({ ids: [2, 4], isStale: false });
  expect(feedAfter(channelMuted(true), ...arrivals)).toEqual({ ids: [], isStale: false });
  expect(feedAfter(policyOf('lunch', 3), channelMuted(true), ...arrivals)).toEqual({ ids: [2, 4], isStale: false });
});

test('the feed is loaded again when messages of it were missing, but not when a topic is followed', () => {
  expect(feedAfter(policyOf('noise', 1), policyOf('noise', 0)).isStale).toBe(true);
  expect(feedAfter(channelMuted(true), policyOf('lunch', 2)).isStale).toBe(true);
  expect(feedAfter(channelMuted(true), channelMuted(false)).isStale).toBe(true);
  expect(feedAfter(policyOf('noise', 3), policyOf('lunch', 2))).toEqual({ ids: [1, 2], isStale: false });
  const peers = { stream_ids: [channelId], user_ids: [8] };
  expect(feedAfter(ofChannel('peer_add', peers)).isStale).toBe(false);
});

test('a page of the feed that may be older than the end of a muting is loaded again', () => {
  const opened = reduce(initialState(wholeModel as never), {
    type: 'opened',
    page: { narrow: feed, messages: [], foundOldest: true, foundNewest: true, since: [policyOf('noise', 0)] },
  });
  expect(viewOf(opened, feed).isStale).toBe(true);
});
