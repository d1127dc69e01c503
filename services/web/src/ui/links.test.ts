import fc from 'fast-check';
import { expect, test } from 'vitest';
import { directPlace, type Narrow, topicPlace } from '../state/place.ts';
import { linkTo, narrowOfPath, pathOf } from './links.ts';

const ownId = 3;
const id = fc.integer({ min: 1, max: 1_000 });
const topic = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '~', '~a', 'a/b', '50%41', '.', '..', '?q#h'),
);
const narrow: fc.Arbitrary<Narrow> = fc.oneof(
  fc.constantFrom<Narrow>({ kind: 'feed' }, { kind: 'mentions' }, { kind: 'starred' }),
  id.map((channelId): Narrow => ({ kind: 'channel', channelId })),
  fc.tuple(id, topic).map(([channelId, name]) => topicPlace(channelId, name)),
  fc.uniqueArray(id, { minLength: 1, maxLength: 5 }).map((ids) => directPlace(ids, ownId)),
);

test('the path of a link leads to the conversation that it names', () => {
  fc.assert(
    fc.property(narrow, (one) => {
      expect(narrowOfPath(pathOf(linkTo(one)), ownId)).toEqual(one);
    }),
  );
});

test.each(['/inbox', '/recent', '/search', '/channel/x', '/channel', '/dm/1,x'])('%s is not a conversation', (path) => {
  expect(narrowOfPath(path, ownId)).toBeUndefined();
});

test('a browser does not change the path of a link', () => {
  fc.assert(
    fc.property(narrow, (one) => {
      const path = pathOf(linkTo(one));
      expect(new URL(path, 'https://chat.example').pathname).toBe(path);
    }),
  );
});
