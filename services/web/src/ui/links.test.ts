import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { targetOfFragment } from '../state/link-terms.ts';
import type { Model } from '../state/model.ts';
import { directPlace, type Narrow, topicPlace } from '../state/place.ts';
import { linkTo, narrowOfPath, pathOf, permalink } from './links.ts';

afterEach(() => void vi.unstubAllGlobals());

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

test('a link to a direct message leads each participant to the conversation', () => {
  vi.stubGlobal('location', { origin: 'https://chat.example' });
  const model = { ownId } as Model;
  for (const others of [[], [5], [5, 1]]) {
    const participants = [...others, ownId];
    const link = permalink(model, directPlace(participants, ownId), 42);
    const { narrow: found, near } = targetOfFragment(link.replace('https://chat.example/#narrow/', '')) ?? {};
    expect([found?.kind, near]).toEqual(['direct', 42]);
    const ids = found?.kind === 'direct' ? found.userIds : [];
    for (const reader of participants) expect(directPlace(ids, reader)).toEqual(directPlace(participants, reader));
  }
});
