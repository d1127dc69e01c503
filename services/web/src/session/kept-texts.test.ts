import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { topicPlace } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import { KeptEdits } from './kept-edits.ts';
import { forgetTexts, keepsUnsent } from './kept-texts.ts';
import { KeptTopics } from './kept-topics.ts';
import { readOutbox, writeOutbox } from './outbox-store.ts';
import { UnsavedEdits } from './unsaved-edits.ts';

const place = topicPlace(1, 'T');
let entries: Record<string, string>;
beforeEach(() => {
  entries = {};
  const methods = {
    getItem: (name: string) => entries[name] ?? null,
    setItem: (name: string, text: string) => void Reflect.set(entries, name, text),
    removeItem: (name: string) => void Reflect.deleteProperty(entries, name),
  };
  vi.stubGlobal('localStorage', new Proxy(entries, { get: (_, name) => Reflect.get(methods, name) }));
});
afterEach(() => vi.unstubAllGlobals());

const message: Outgoing = { id: 'a', place, content: 'On its way', at: Date.now(), queueId: 'q' };
const ways: [string, (ownId: number) => void][] = [
  ['outbox', (ownId) => writeOutbox(ownId, [], [message])],
  ['draft', (ownId) => new KeptEdits(ownId).keep('T', { place, text: 'A draft' })],
  [
    'edit',
    (ownId) => new UnsavedEdits(ownId).keep('message 1', { text: 'New', base: 'Old', isOutdated: false, place }),
  ],
];

test.for(ways)('an %s is kept for its account until it is forgotten', ([, keep]) => {
  expect(keepsUnsent(7)).toBe(false);
  keep(7);
  expect([keepsUnsent(7), keepsUnsent(77)]).toEqual([true, false]);
  keep(77);
  forgetTexts(7);
  expect([keepsUnsent(7), keepsUnsent(77)]).toEqual([false, true]);
});

test('a topic is forgotten with the texts, but nothing unsent by itself', () => {
  new KeptTopics(7, new Set()).keep(1, 'a new topic');
  new KeptEdits(7).keep('T', { place, text: '' });
  expect(keepsUnsent(7)).toBe(false);
  forgetTexts(7);
  expect([Object.keys(entries), readOutbox(7)]).toEqual([[], []]);
});

test('the texts of tabs that are gone are taken once, and those of an earlier release too', () => {
  const name = (key: string, tab: string): string => `natter draft 7 ${key}\n${tab}`;
  entries['natter draft 7 T'] = JSON.stringify({ place, text: 'Earlier' });
  entries[name('T', 'gone')] = JSON.stringify({ place, text: 'Gone', draftId: 3, known: ['Go'] });
  entries[name('T', 'also gone')] = JSON.stringify({ place, text: 'Gone' });
  entries[name('T', 'there')] = JSON.stringify({ place, text: 'There' });
  const kept = new KeptEdits(7);
  expect([...kept.take(new Set(['there']))]).toEqual([
    ['T', { place, text: 'Earlier\n\nGone', draftId: 3, known: expect.arrayContaining(['Earlier', 'Gone', 'Go']) }],
  ]);
  expect(Object.keys(entries)).toEqual([name('T', 'there')]);
  kept.keep('T', { place, text: 'Own' });
  kept.drop('T');
  expect(Object.keys(entries)).toEqual([name('T', 'there')]);
});
