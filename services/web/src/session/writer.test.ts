import { type Client, OutcomeUnknown } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { textOf } from '../state/edits.ts';
import { keyOf, type Place, topicPlace } from '../state/place.ts';
import { type Action, initialState, reduce, type State } from '../state/state.ts';
import type { Draft } from '../state/writing-snapshot.ts';
import { Writer } from './writer.ts';

afterEach(() => void vi.useRealTimers());

/** A writer whose first save reaches the server, but gets no answer. */
function afterLostSave() {
  vi.useFakeTimers();
  const calls: unknown[] = [];
  const client = {
    createDrafts: async ({ drafts }: { drafts: { content: string }[] }) => {
      calls.push(['create', drafts[0]?.content]);
      throw new OutcomeUnknown(new TypeError('no connection'));
    },
    editDraft: async ({ draft_id, draft }: { draft_id: number; draft: { content: string } }) =>
      void calls.push(['edit', draft_id, draft.content]),
    setTyping: async () => undefined,
  } as unknown as Client;
  const drafts = new Map<number, Draft>();
  const limits = { message: 10_000, typingStartedWaitMs: 1, typingStoppedWaitMs: 1, typingExpiryMs: 1 };
  let state: State = initialState({ ownId: 7, writing: { settings: {}, limits, drafts } } as never);
  const dispatch = (action: Action): void => {
    if (action.type === 'composing') state = reduce(state, action);
  };
  const writer = new Writer(client, { state: () => state, dispatch }, new Set());
  return { writer, drafts, calls };
}

test('a draft whose creation got no answer is edited, not created again', async () => {
  const { writer, drafts, calls } = afterLostSave();
  const place = topicPlace(1, 'greetings');
  writer.edit(keyOf(place), place, 'hel');
  await vi.advanceTimersByTimeAsync(2_000);
  drafts.set(5, { id: 5, place, content: 'hel', timestamp: 1 });
  writer.edit(keyOf(place), place, 'hello');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(calls).toEqual([
    ['create', 'hel'],
    ['edit', 5, 'hello'],
  ]);
});

/** A writer at a server that keeps drafts, whose answers wait for `answer`. */
function withDrafts() {
  vi.useFakeTimers();
  const drafts = new Map<number, Draft>();
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const answered = (): Promise<void> | undefined =>
    isSlow ? new Promise((resolve) => void waiting.push(resolve)) : undefined;
  type Sent = { content: string; to: number[]; topic: string };
  const put = (id: number, { content, to: [channelId = 0], topic }: Sent): void =>
    void drafts.set(id, { id, place: topicPlace(channelId, topic), content, timestamp: id });
  const client = {
    createDrafts: async ({ drafts: [draft] }: { drafts: [Sent] }) => {
      await answered();
      const id = drafts.size + 1;
      put(id, draft);
      return { ids: [id] };
    },
    editDraft: async ({ draft_id, draft }: { draft_id: number; draft: Sent }) => {
      await answered();
      put(draft_id, draft);
    },
    deleteDraft: async ({ draft_id }: { draft_id: number }) => {
      await answered();
      drafts.delete(draft_id);
    },
    setTyping: async () => undefined,
  } as unknown as Client;
  const limits = { message: 10_000, typingStartedWaitMs: 1, typingStoppedWaitMs: 1, typingExpiryMs: 1 };
  const writing = { settings: {}, limits, drafts, echoes: new Map() };
  let state: State = initialState({ ownId: 7, writing } as never);
  const dispatch = (action: Action): void => {
    if (action.type === 'composing') state = reduce(state, action);
  };
  const writer = new Writer(client, { state: () => state, dispatch }, new Set());
  return {
    writer,
    drafts: () => [...drafts.values()].map(({ place, content }) => [place && keyOf(place), content]),
    /** Another device adds a draft. */
    add: (id: number, place: Place, content: string) => void drafts.set(id, { id, place, content, timestamp: id }),
    textIn: (place: Place) => textOf(state.composing, state.model.writing, keyOf(place)),
    slow: () => {
      isSlow = true;
    },
    answer: () => {
      isSlow = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

const [before, after] = [topicPlace(1, 'leak'), topicPlace(1, '✔ leak')];

test('a text and its draft follow the messages of their conversation', async () => {
  const { writer, drafts, textIn } = withDrafts();
  writer.edit(keyOf(before), before, 'half a sen');
  writer.carry(before, after);
  expect([textIn(before), textIn(after)]).toEqual(['', 'half a sen']);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[keyOf(after), 'half a sen']]);
  // The draft alone, on a page where nothing was written.
  writer.leave(keyOf(after));
  writer.carry(after, before);
  // The draft is still stored with the other conversation, and is not shown twice.
  expect([textIn(before), textIn(after)]).toEqual(['half a sen', '']);
  writer.carry(before, after);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[keyOf(after), 'half a sen']]);
});

test('a text that moved while it was saved does not leave a draft behind', async () => {
  const { writer, drafts, slow, answer } = withDrafts();
  slow();
  writer.edit(keyOf(before), before, 'half');
  await vi.advanceTimersByTimeAsync(2_000);
  writer.carry(before, after);
  writer.edit(keyOf(after), after, 'half a sentence');
  answer();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[keyOf(after), 'half a sentence']]);
});

test('a text that moved twice while it was saved does not leave a draft behind', async () => {
  const { writer, drafts, slow, answer } = withDrafts();
  const last = topicPlace(1, 'last');
  slow();
  writer.edit(keyOf(before), before, 'half');
  await vi.advanceTimersByTimeAsync(2_000);
  writer.carry(before, after);
  writer.carry(after, last);
  answer();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[keyOf(last), 'half']]);
});

test('a text that moves does not replace another one', async () => {
  const { writer, textIn } = withDrafts();
  writer.edit(keyOf(before), before, 'one');
  writer.edit(keyOf(after), after, 'two');
  expect(writer.carry(before, after)).toBe(false);
  expect([textIn(before), textIn(after)]).toEqual(['one', 'two']);
});

test('a text that was carried away while it was saved leaves its draft to no newer text of the old conversation', async () => {
  const { writer, drafts, slow, answer } = withDrafts();
  slow();
  writer.edit(keyOf(before), before, 'half');
  await vi.advanceTimersByTimeAsync(2_000);
  writer.carry(before, after);
  writer.edit(keyOf(before), before, 'another text');
  answer();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([
    [keyOf(after), 'half'],
    [keyOf(before), 'another text'],
  ]);
});

test('a chosen draft does not replace a newer text that is too long to save', async () => {
  const { writer, drafts, textIn } = withDrafts();
  const key = keyOf(before);
  writer.edit(key, before, 'short');
  await vi.advanceTimersByTimeAsync(2_000);
  const long = 'x'.repeat(10_001);
  writer.edit(key, before, long);
  expect(writer.choose(key, 1)).toBe(true);
  expect(textIn(before)).toBe(long);
  writer.edit(key, before, 'long');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[key, 'long']]);
});

test('a chosen draft does not replace a newer text that is being saved', async () => {
  const { writer, drafts, textIn, slow, answer } = withDrafts();
  const key = keyOf(before);
  writer.edit(key, before, 'one');
  await vi.advanceTimersByTimeAsync(2_000);
  slow();
  writer.edit(key, before, 'one two');
  await vi.advanceTimersByTimeAsync(2_000);
  writer.edit(key, before, 'one two three');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(writer.choose(key, 1)).toBe(true);
  expect(textIn(before)).toBe('one two three');
  answer();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[key, 'one two three']]);
});

test('another draft is not chosen before the text of a conversation is saved', async () => {
  const { writer, drafts, add, textIn } = withDrafts();
  const key = keyOf(before);
  add(1, before, 'older');
  add(2, before, 'newer');
  writer.edit(key, before, 'newer text');
  expect(writer.choose(key, 1)).toBe(false);
  expect(textIn(before)).toBe('newer text');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(writer.choose(key, 1)).toBe(true);
  writer.edit(key, before, 'older text');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([
    [key, 'older text'],
    [key, 'newer text'],
  ]);
});

test('a draft that is chosen while another one is deleted stays itself', async () => {
  const { writer, drafts, add, slow, answer } = withDrafts();
  const key = keyOf(before);
  add(1, before, 'older');
  add(2, before, 'sent');
  slow();
  writer.edit(key, before, '');
  await vi.advanceTimersByTimeAsync(0);
  expect(writer.choose(key, 1)).toBe(true);
  answer();
  await vi.advanceTimersByTimeAsync(2_000);
  writer.edit(key, before, 'older text');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts()).toEqual([[key, 'older text']]);
});

test('a box is emptied after its text was sent by other means, wherever it went', async () => {
  const { writer, drafts, textIn } = withDrafts();
  writer.edit(keyOf(before), before, 'see you tomorrow');
  await vi.advanceTimersByTimeAsync(2_000);
  await writer.emptyAfter({ key: keyOf(before), place: before }, 'see you tomorrow', async () => {
    writer.carry(before, after);
    writer.edit(keyOf(before), before, 'another text');
  });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([textIn(before), textIn(after)]).toEqual(['another text', '']);
  expect(drafts()).toEqual([[keyOf(before), 'another text']]);
});

test('a box keeps what was written while its earlier text was sent by other means', async () => {
  const { writer, drafts, textIn } = withDrafts();
  const box = { key: keyOf(before), place: before };
  writer.edit(box.key, before, 'see you tomorrow');
  await writer.emptyAfter(box, 'see you tomorrow', async () => writer.edit(box.key, before, 'next'));
  const refusal = writer.emptyAfter(box, 'next', () => Promise.reject(new Error('refused')));
  await expect(refusal).rejects.toThrow('refused');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(textIn(before)).toBe('next');
  expect(drafts()).toEqual([[box.key, 'next']]);
});
