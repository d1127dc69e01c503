import { type Client, OutcomeUnknown } from '@natter/client';
import { afterEach, expect, test, vi } from 'vitest';
import { keyOf, topicPlace } from '../state/place.ts';
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
  const writer = new Writer(client, { state: () => state, dispatch });
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
