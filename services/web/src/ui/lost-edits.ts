import type { ChatEvent } from '@natter/client';
import { useEffect } from 'react';
import type { Session } from '../session/session.ts';
import { editKey } from '../session/unsaved-edits.ts';
import { textOf } from '../state/edits.ts';
import { directPlace, holds, keyOf, type Place, topicPlace } from '../state/place.ts';
import { isMoveFrom } from '../state/views.ts';
import { t } from '../text/text.ts';
import { editedNow, endEdit } from './editing.ts';
import { titleOf } from './names.ts';

/**
 * Notifies the writer if others delete a message that is being edited, or move it off the page. The written text is kept.
 */
export function useLostEdits(session: Session): void {
  useEffect(() => session.onEvent((event) => followEdits(session, event)), [session]);
}

function followEdits(session: Session, event: ChatEvent): void {
  if (event.type === 'delete_message') {
    const place = event.message_type === 'stream' ? topicPlace(event.stream_id, event.topic) : undefined;
    for (const id of 'message_ids' in event ? event.message_ids : [event.message_id]) deleted(session, id, place);
  } else if (event.type === 'update_message') moved(session, event);
}

/** `place` is the last topic of the message, if it had one. */
function deleted(session: Session, id: number, place: Place | undefined): void {
  const { writer, edits, state } = session;
  const key = editKey.message(id);
  const edit = edits.get(key);
  const isOpen = editedNow() === id;
  if (!edit && !isOpen) return;
  endEdit(id);
  edits.drop(key);
  writer.uploads.removeAll(`edit ${id}`);
  if (!edit || edit.text === edit.base) {
    session.notify(t('theMessageThatYouEditedWasDeleted'));
    return;
  }
  const { model, composing } = state;
  const to = writable(session, place ?? edit.place);
  const written = textOf(composing, model.writing, keyOf(to));
  writer.edit(keyOf(to), to, written === '' ? edit.text : `${written}\n${edit.text}`);
  session.notify(t('yourTextOfTheDeletedMessage', { title: titleOf(model, to) }));
}

/** The notes to oneself have a compose box always; a channel that the writer left has none. */
function writable({ state: { model } }: Session, place: Place): Place {
  if (place.kind === 'direct' || model.channels.has(place.channelId)) return place;
  return directPlace([model.ownId], model.ownId);
}

/** The page follows a topic that moves as a whole; the editor then goes along. */
function moved(session: Session, event: Extract<ChatEvent, { type: 'update_message' }>): void {
  const { shown, state } = session;
  const { message_ids, stream_id, orig_subject, new_stream_id, subject } = event;
  const id = editedNow();
  if (!shown || id === undefined || !message_ids.includes(id)) return;
  if (stream_id === undefined || orig_subject === undefined) return;
  const key = keyOf(shown.narrow);
  const ids = state.views.get(key)?.ids ?? [];
  const wasHere = holds(shown.narrow, { place: topicPlace(stream_id, orig_subject), isMuted: false, flags: [] });
  const isFollowed = isMoveFrom(event, key) && ids.length === 0;
  if (!wasHere || isFollowed || ids.includes(id)) return;
  const to = topicPlace(new_stream_id ?? stream_id, subject ?? orig_subject);
  session.notify(t('theMessageThatYouEditWasMoved', { title: titleOf(state.model, to) }));
}
