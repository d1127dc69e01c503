import { expect, test } from 'vitest';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { newestUnread } from './unread-places.ts';

const unread = new Map(
  [...Array(500).keys()].map((nth) => {
    const place = topicPlace(nth % 2, `T${nth}`);
    // The newest message is not the last one of the set.
    return [keyOf(place), { place, ids: new Set([10_000 + nth, nth]) }];
  }),
);
const names = (most: number, channelId?: number): [string[], boolean] => {
  const isWanted = (place: Place) =>
    channelId === undefined || (place.kind === 'topic' && place.channelId === channelId);
  const { shown, hasMore } = newestUnread(unread, most, isWanted);
  return [shown.map(({ place }) => (place.kind === 'topic' ? place.topic : '')), hasMore];
};

test('only the places with the newest unread messages are shown, the newest first', () => {
  expect(names(3)).toEqual([['T499', 'T498', 'T497'], true]);
  expect(names(3, 0)).toEqual([['T498', 'T496', 'T494'], true]);
});

test('all places can be shown', () => {
  expect(names(499)[1]).toBe(true);
  const [all, hasMore] = names(500);
  expect([new Set(all).size, hasMore]).toEqual([500, false]);
});
