import type { ChatEvent } from '@natter/client';
import { directPlace, keyOf, type Place, placeOf, topicPlace } from './place.ts';
import type { Writing } from './writing-snapshot.ts';

/** A text in a compose box, by the key of its conversation. */
interface Edit {
  text: string;
  /** Whether the server does not have the text yet. */
  isUnsaved: boolean;
  /** The draft that it changes. */
  draftId: number | undefined;
}

export interface Composing {
  edits: ReadonlyMap<string, Edit>;
  /** The people who are typing, by conversation. */
  typing: ReadonlyMap<string, readonly number[]>;
}

export type ComposingAction =
  | { type: 'edited'; key: string; text: string }
  /** A text of an earlier page, and the draft that it changes. */
  | { type: 'restored'; key: string; text: string; draftId: number | undefined }
  /** The server has the text, as this draft; without a draft if it is empty. `before` is the draft that the text changed. */
  | { type: 'kept'; key: string; text: string; draftId: number | undefined; before: number | undefined }
  | { type: 'chosen'; key: string; draftId: number }
  /** The text moves to the present conversation of the messages. */
  | { type: 'carried'; key: string; to: string; text: string; draftId: number | undefined }
  /** The conversation is no longer shown. */
  | { type: 'left'; key: string }
  | { type: 'stopped typing'; key: string; userId: number };

export const noComposing: Composing = { edits: new Map(), typing: new Map() };

const withEdit = (composing: Composing, key: string, edit: Edit | undefined): Composing => {
  const edits = new Map(composing.edits);
  if (edit) edits.set(key, edit);
  else edits.delete(key);
  return { ...composing, edits };
};

export function reduceComposing(composing: Composing, action: ComposingAction, writing: Writing): Composing {
  const { key } = action;
  const before = composing.edits.get(key);
  switch (action.type) {
    case 'edited': {
      const draftId = draftOf(composing, writing, key);
      return withEdit(composing, key, { text: action.text, isUnsaved: true, draftId });
    }
    case 'restored':
      return withEdit(composing, key, { text: action.text, isUnsaved: true, draftId: action.draftId });
    case 'kept':
      // Another draft may have been chosen in the meantime.
      if (!before || before.draftId !== action.before) return composing;
      return withEdit(composing, key, {
        text: before.text,
        isUnsaved: before.text !== action.text,
        draftId: action.draftId,
      });
    case 'chosen':
      return withEdit(composing, key, {
        text: writing.drafts.get(action.draftId)?.content ?? '',
        isUnsaved: false,
        draftId: action.draftId,
      });
    case 'carried': {
      const next = { text: action.text, isUnsaved: true, draftId: action.draftId };
      return withEdit(withEdit(composing, key, undefined), action.to, next);
    }
    case 'left':
      return before && !before.isUnsaved ? withEdit(composing, key, undefined) : composing;
    case 'stopped typing':
      return withTyping(composing, key, action.userId, false);
  }
}

/** Without drafts that another compose box changes: they were carried there, and will be moved. */
function newestDraft({ edits }: Composing, { drafts }: Writing, key: string) {
  const isElsewhere = (id: number): boolean =>
    [...edits].some(([other, { draftId }]) => other !== key && draftId === id);
  return [...drafts.values()]
    .filter(({ id, place }) => place !== undefined && keyOf(place) === key && !isElsewhere(id))
    .sort((a, b) => b.timestamp - a.timestamp || b.id - a.id)[0];
}

/** The draft that the compose box of a conversation changes. */
export const draftOf = (composing: Composing, writing: Writing, key: string): number | undefined =>
  (composing.edits.get(key) ?? { draftId: newestDraft(composing, writing, key)?.id }).draftId;

/**
 * The text of a compose box: the local edit, until another client changes the draft. Spaces at the ends do not count,
 * because the server removes them.
 */
export function textOf(composing: Composing, writing: Writing, key: string): string {
  const edit = composing.edits.get(key);
  if (!edit) return newestDraft(composing, writing, key)?.content ?? '';
  if (edit.isUnsaved || edit.draftId === undefined) return edit.text;
  const content = writing.drafts.get(edit.draftId)?.content ?? '';
  return content.trim() === edit.text.trim() ? edit.text : content;
}

type TypingEvent = Extract<ChatEvent, { type: 'typing' }>;

/** The conversation in which somebody is typing. */
export const placeOfTyping = (event: TypingEvent, ownId: number): Place =>
  event.message_type === 'stream'
    ? topicPlace(event.stream_id, event.topic)
    : directPlace(
        event.recipients.map(({ user_id }) => user_id),
        ownId,
      );

export function applyToComposing(composing: Composing, event: ChatEvent, ownId: number): Composing {
  const place = event.type === 'typing' ? placeOfTyping(event, ownId) : undefined;
  if (event.type === 'typing' && place && event.sender.user_id !== ownId)
    return withTyping(composing, keyOf(place), event.sender.user_id, event.op === 'start');
  if (event.type !== 'message') return composing;
  // A message ends the typing of its sender.
  return withTyping(composing, keyOf(placeOf(event.message, ownId)), event.message.sender_id, false);
}

function withTyping(composing: Composing, key: string, userId: number, isTyping: boolean): Composing {
  const before = composing.typing.get(key) ?? [];
  if (before.includes(userId) === isTyping) return composing;
  const all = isTyping ? [...before, userId] : before.filter((one) => one !== userId);
  const typing = new Map(composing.typing);
  if (all.length > 0) typing.set(key, all);
  else typing.delete(key);
  return { ...composing, typing };
}
