import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import {
  applyToComposing,
  type Composing,
  type ComposingAction,
  noComposing,
  reduceComposing,
  textOf,
} from './edits.ts';
import { keyOf, topicPlace } from './place.ts';
import { addDraft, applyToWriting, expectEcho, removeDraft, savedDraft } from './writing.ts';
import type { Writing } from './writing-snapshot.ts';

const place = topicPlace(5, 'welcome');
const key = keyOf(place);
const draft = (id: number, content: string) => ({ id, place, content, timestamp: id });
const nothing = { drafts: new Map(), echoes: new Map() } as unknown as Writing;
const after = (writing: Writing, ...actions: ComposingAction[]): Composing =>
  actions.reduce((composing, action) => reduceComposing(composing, action, writing), noComposing);

test('a conversation begins with its newest draft', () => {
  const writing = [draft(2, 'new'), draft(1, 'old')].reduce(addDraft, nothing);
  expect(textOf(noComposing, writing, key)).toBe('new');
  expect(textOf(noComposing, writing, 'topic:5:other')).toBe('');
});

test('unsaved local text takes precedence over a draft of another client', () => {
  const before = addDraft(nothing, draft(1, 'old'));
  const written = after(before, { type: 'edited', key, text: 'mine' });
  expect(textOf(written, addDraft(before, draft(1, 'of another client')), key)).toBe('mine');
  expect(written.edits.get(key)).toMatchObject({ draftId: 1, isUnsaved: true });
});

test('saved text stays as written until another client changes it', () => {
  const composing = after(
    nothing,
    { type: 'edited', key, text: 'mine ' },
    { type: 'kept', key, text: 'mine ', draftId: 1, before: undefined },
  );
  const writing = addDraft(nothing, draft(1, 'mine'));
  expect(textOf(composing, writing, key)).toBe('mine ');
  expect(textOf(composing, addDraft(writing, draft(1, 'theirs')), key)).toBe('theirs');
  expect(textOf(composing, removeDraft(writing, 1), key)).toBe('');
});

test('text that was written during a save is still unsaved', () => {
  const composing = after(
    nothing,
    { type: 'edited', key, text: 'one' },
    { type: 'edited', key, text: 'one two' },
    { type: 'kept', key, text: 'one', draftId: 1, before: undefined },
  );
  expect(composing.edits.get(key)).toEqual({ text: 'one two', isUnsaved: true, draftId: 1 });
});

test('after a message is sent, an older draft does not take its place', () => {
  const writing = [draft(1, 'older'), draft(2, 'sent')].reduce(addDraft, nothing);
  const composing = after(
    writing,
    { type: 'edited', key, text: '' },
    { type: 'kept', key, text: '', draftId: undefined, before: 2 },
  );
  expect(textOf(composing, removeDraft(writing, 2), key)).toBe('');
});

test('a conversation that is left shows its draft again, unless its text is unsaved', () => {
  const writing = addDraft(nothing, draft(1, 'kept'));
  expect(after(writing, { type: 'chosen', key, draftId: 1 }, { type: 'left', key }).edits.size).toBe(0);
  expect(after(writing, { type: 'edited', key, text: 'x' }, { type: 'left', key }).edits.size).toBe(1);
});

test('a late event of an older own draft does not replace a newer one, but a draft of another client does', () => {
  const event = (op: 'add' | 'update', content: string) => {
    const raw = { id: 1, type: 'stream', to: [5], topic: 'welcome', content, timestamp: 1 };
    return (op === 'add' ? { type: 'drafts', op, drafts: [raw] } : { type: 'drafts', op, draft: raw }) as ChatEvent;
  };
  const contentAfter = (writing: Writing, ...events: ChatEvent[]) =>
    events.reduce(applyToWriting, writing).drafts.get(1)?.content;
  const created = savedDraft(nothing, draft(1, 'one'));
  const saved = savedDraft(expectEcho(created, 1, 'two '), draft(1, 'two '));
  expect(contentAfter(saved, event('add', 'one'))).toBe('two ');
  expect(contentAfter(saved, event('add', 'one'), event('update', 'two'))).toBe('two');
  expect(contentAfter(saved, event('add', 'one'), event('update', 'theirs'))).toBe('theirs');
  expect(contentAfter(saved, event('add', 'one'), event('update', 'two'), event('update', 'one'))).toBe('one');
  // The event of the creation arrived before its response.
  const early = savedDraft(applyToWriting(nothing, event('add', 'one')), draft(1, 'one'));
  expect(early.echoes.size).toBe(0);
});

test('a user is shown as typing until they stop or send', () => {
  const event = (more: object) => more as ChatEvent;
  const typing = { type: 'typing', message_type: 'stream', sender: { user_id: 7 }, stream_id: 5, topic: 'Welcome' };
  const apply = (composing: Composing, ...events: object[]) =>
    events.reduce<Composing>((next, one) => applyToComposing(next, event(one), 9), composing);
  const typed = apply(noComposing, { ...typing, op: 'start' });
  expect(typed.typing.get(key)).toEqual([7]);
  expect(apply(typed, { ...typing, op: 'start' })).toBe(typed);
  expect(apply(typed, { ...typing, op: 'stop' }).typing.size).toBe(0);
  const message = { type: 'stream', stream_id: 5, subject: 'welcome', sender_id: 7 };
  expect(apply(typed, { type: 'message', message }).typing.size).toBe(0);
  expect(reduceComposing(typed, { type: 'stopped typing', key, userId: 7 }, nothing).typing.size).toBe(0);
  expect(apply(noComposing, { ...typing, sender: { user_id: 9 }, op: 'start' }).typing.size).toBe(0);
});
