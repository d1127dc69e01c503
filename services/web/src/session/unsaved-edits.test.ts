import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { topicPlace } from '../state/place.ts';
import { type Edit, editKey, UnsavedEdits } from './unsaved-edits.ts';

const place = topicPlace(1, 'edits');
const edit = (text: string, base = 'base'): Edit => ({ text, base, isOutdated: false, place });
const key = editKey.message;
const textOf = (edits: UnsavedEdits, id: number): string | undefined => edits.get(key(id))?.text;

/** A page of the same person and browser. */
const page = (ownId = 7): UnsavedEdits => new UnsavedEdits(ownId);

beforeEach(() => {
  const entries: Record<string, string> = {};
  const methods = {
    getItem: (name: string) => entries[name] ?? null,
    setItem: (name: string, text: string) => void Reflect.set(entries, name, text),
    removeItem: (name: string) => void Reflect.deleteProperty(entries, name),
  };
  const storage = new Proxy(entries, {
    get: (_, name) => Reflect.get(methods, name),
  });
  vi.stubGlobal('localStorage', storage);
});
afterEach(() => vi.unstubAllGlobals());

test('an unsaved edit survives a reload, until it is dropped, and only for its writer', () => {
  const before = page();
  before.keep(key(1), edit('unsaved'));
  before.keep(key(2), edit('other'));
  const after = page();
  expect([after.get(key(1)), textOf(after, 2)]).toEqual([edit('unsaved'), 'other']);
  expect(textOf(page(8), 1)).toBeUndefined();
  after.drop(key(1));
  expect([textOf(after, 1), textOf(page(), 1), textOf(page(), 2)]).toEqual([undefined, undefined, 'other']);
});

test('an edit without a change is not stored', () => {
  const edits = page();
  edits.keep(key(1), edit('changed'));
  edits.keep(key(1), edit('base'));
  expect([textOf(edits, 1), textOf(page(), 1)]).toEqual(['base', undefined]);
});

test('a tab that drops an edit leaves what another tab has written since', () => {
  const [one, two] = [page(), page()];
  one.keep(key(1), edit('from the first tab'));
  expect(textOf(two, 1)).toBe('from the first tab');
  two.keep(key(1), edit('from the second tab'));
  one.drop(key(1));
  expect(textOf(page(), 1)).toBe('from the second tab');
});

test('only the most recently changed edits are kept, and only so many characters', () => {
  vi.useFakeTimers();
  const edits = page();
  const keep = (id: number, text: string): void => {
    vi.advanceTimersByTime(1);
    edits.keep(key(id), edit(text));
  };
  for (let id = 1; id <= 50; id++) keep(id, `text ${id}`);
  keep(1, 'changed');
  keep(51, 'text 51');
  for (const one of [edits, page()])
    expect([1, 2, 3, 51].map((id) => textOf(one, id))).toEqual(['changed', undefined, 'text 3', 'text 51']);
  for (let id = 101; id <= 111; id++) keep(id, 'x'.repeat(99_000));
  expect([101, 102, 111, 51].map((id) => textOf(page(), id)?.length)).toEqual([undefined, 99_000, 99_000, undefined]);
  keep(200, 'x'.repeat(200_000));
  expect([textOf(edits, 200)?.length, textOf(page(), 200)]).toEqual([200_000, undefined]);
  vi.useRealTimers();
});
