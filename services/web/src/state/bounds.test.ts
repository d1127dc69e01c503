import { expect, test } from 'vitest';
import { bounded, covers, mayGrow } from './bounds.ts';
import type { Message, Narrow } from './place.ts';
import { keyOf } from './place.ts';
import type { Shown, View } from './views.ts';

const messageOf = (id: number): Message => ({ id, flags: [], reactions: [] }) as unknown as Message;
const idsFrom = (first: number, count: number): number[] => Array.from({ length: count }, (_, index) => first + index);

const viewOf = (narrow: Narrow, ids: readonly number[]): View => ({
  narrow,
  ids,
  hasOldest: true,
  hasNewest: true,
  isStale: false,
  anchor: undefined,
  isNear: false,
  version: 1,
  matches: new Map(ids.map((id) => [id, ''])),
  news: 0,
});

function shownOf(...views: View[]): Shown {
  return {
    messages: new Map(views.flatMap(({ ids }) => ids.map((id) => [id, messageOf(id)] as const))),
    views: new Map(views.map((view) => [keyOf(view.narrow), view])),
  };
}

const feed: Narrow = { kind: 'feed' };

test('a view within the bounds stays as it is', () => {
  const shown = shownOf(viewOf(feed, idsFrom(1, 1_200)));
  expect(bounded(shown, undefined)).toBe(shown);
});

test('a long view keeps the messages around the reader, and marks the ends that it lacks', () => {
  const shown = shownOf(viewOf(feed, idsFrom(1, 5_000)));
  for (const [topId, ends] of [
    [1, [true, false]],
    [2_500, [false, false]],
    [undefined, [false, true]],
  ] as const) {
    const { views, messages } = bounded(shown, { key: 'feed', topId });
    const view = views.get('feed') as View;
    expect([topId, view.hasOldest, view.hasNewest]).toEqual([topId, ...ends]);
    expect(view.ids).toContain(topId ?? 5_000);
    expect(view.ids).toEqual(idsFrom(view.ids[0] ?? 0, view.ids.length));
    expect(view.ids.length).toBeLessThan(1_200);
    expect([...messages.keys()]).toEqual(view.ids);
    expect([...view.matches.keys()]).toEqual(view.ids);
  }
});

test('the last of many conversations and the one on screen are kept', () => {
  const views = idsFrom(1, 100).map((channelId) =>
    viewOf({ kind: 'channel', channelId }, idsFrom(channelId * 100, 100)),
  );
  const { views: left, messages } = bounded(shownOf(...views), { key: 'channel:1', topId: undefined });
  expect(left.size).toBeLessThanOrEqual(60);
  expect([left.has('channel:1'), left.has('channel:100'), left.has('channel:2')]).toEqual([true, true, false]);
  expect(messages.size).toBe(left.size * 100);
});

test('long conversations keep fewer others, but always the one on screen', () => {
  const views = idsFrom(1, 40).map((channelId) =>
    viewOf({ kind: 'channel', channelId }, idsFrom(channelId * 1_000, 600)),
  );
  const { views: left, messages } = bounded(shownOf(...views), { key: 'channel:1', topId: undefined });
  expect(messages.size).toBeLessThanOrEqual(15_000);
  expect([left.has('channel:1'), left.has('channel:40'), left.has('channel:2')]).toEqual([true, true, false]);
});

test('messages that are not in a view are dropped', () => {
  const loose = new Map(idsFrom(1_000_000, 5_000).map((id) => [id, messageOf(id)]));
  const { messages, views } = shownOf(viewOf(feed, [1, 2, 3]));
  const shown = bounded({ messages: new Map([...messages, ...loose]), views }, undefined);
  expect([...shown.messages.keys()]).toEqual([1, 2, 3]);
});

test('a list near both of its ends loads messages only until they would be dropped again', () => {
  for (const topId of [undefined, 10_000]) {
    let view: View = { ...viewOf(feed, idsFrom(10_000, 60)), hasOldest: false, hasNewest: false };
    let pages = 0;
    for (; pages < 100; pages++) {
      const [first, last] = [view.ids[0] ?? 0, view.ids.at(-1) ?? 0];
      const older = mayGrow(view, 'oldest', topId) ? idsFrom(first - 60, 60) : [];
      const newer = mayGrow(view, 'newest', topId) && topId !== undefined ? idsFrom(last + 1, 60) : [];
      if (older.length + newer.length === 0) break;
      view = { ...view, ids: [...older, ...view.ids, ...newer] };
      view = bounded(shownOf(view), { key: 'feed', topId }).views.get('feed') as View;
    }
    expect([topId, pages]).toEqual([topId, expect.toSatisfy((count: number) => count > 1 && count < 100)]);
  }
});

test('a list does not load messages at an end that it already has', () => {
  const view = viewOf(feed, [1, 2, 3]);
  expect([mayGrow(view, 'oldest', 1), mayGrow(view, 'newest', 1)]).toEqual([false, false]);
  expect(mayGrow({ ...view, hasOldest: false }, 'oldest', 1)).toBe(true);
});

test('a view covers the messages between its ends, and those past an end that has no others', () => {
  const view = viewOf(feed, [10, 20]);
  expect([5, 15, 25].map((id) => covers(view, id))).toEqual([true, true, true]);
  expect([5, 15, 25].map((id) => covers({ ...view, hasOldest: false, hasNewest: false }, id))).toEqual([
    false,
    true,
    false,
  ]);
  expect(covers({ ...view, ids: [], hasNewest: false }, 15)).toBe(false);
});
