import { type FormEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type Edit, editKey, type UnsavedEdits } from '../session/unsaved-edits.ts';
import type { Uploaded } from '../session/upload.ts';
import { linkAfter } from '../session/uploads.ts';
import { type Message, type Place, placeOf } from '../state/place.ts';
import { t } from '../text/text.ts';
import { Preview } from './compose-preview.tsx';
import { Tools } from './compose-toolbar.tsx';
import { UploadList } from './compose-uploads.tsx';
import { awaitText, takesFocus } from './editing.ts';
import { useSelected, useSession } from './session-context.tsx';
import { TextBox } from './text-box.tsx';
import { useWriting } from './use-writing.ts';
import { Notes, useWarnings } from './writing-notes.tsx';

interface EditorProps {
  message: Message;
  /** Hides the editor. */
  onClose: () => void;
}

/** Changes the text of a message in its place. */
export function MessageEditor({ message, onClose: close }: EditorProps) {
  const { edits, writer } = useSession();
  const ownId = useSelected(({ model }) => model.ownId);
  const place = useMemo(() => placeOf(message, ownId), [message, ownId]);
  const key = keyOfEdit(message.id);
  const kept = editKey.message(message.id);
  const onClose = (): void => {
    writer.uploads.removeAll(key);
    edits.drop(kept);
    close();
  };
  const { edit, change, save, isSaving } = useEdit(message.id, place, onClose);
  const append = (uploaded: Uploaded): void => appendTo(edits, kept, uploaded);
  const { box, uploads, isPreview, dropTarget, tools } = useWriting({ key, place: undefined, append });
  const warnings = useWarnings(edit?.text ?? '', place);
  const length = edit?.text.length;
  useLayoutEffect(() => (length === undefined ? awaitText(message.id) : undefined), [length === undefined]);
  // A layout effect sets the focus before the browser handles the next key.
  useLayoutEffect(() => {
    if (length === undefined || !takesFocus(message.id)) return;
    box.current?.focus();
    box.current?.setSelectionRange(length, length);
  }, [length === undefined]);
  // A file that arrives while the message is off the screen finds the text.
  useEffect(() => {
    if (uploads.isBusy && edit && !edits.get(kept)) edits.keep(kept, edit);
  }, [uploads.isBusy]);
  if (!edit) return <p role="status">{t('loadingTheText')}</p>;
  const isBlocked = isSaving || edit.text.trim() === '' || warnings.left < 0 || uploads.isBusy;
  /** Closes the editor; a changed text is there again when the message is edited the next time. */
  const leave = (): void => {
    if (edit.text === edit.base && !uploads.isBusy) onClose();
    else close();
  };
  const submit = (): void => {
    if (!isBlocked) void save(edit);
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    submit();
  };
  return (
    <form className="editor" onSubmit={onSubmit} {...dropTarget}>
      {isPreview && <Preview content={edit.text} />}
      <TextBox
        {...{ box, submit, place }}
        text={edit.text}
        setText={(text) => change({ ...edit, text })}
        label={t('textOfTheMessage')}
        rows={[2, 14]}
        isHidden={isPreview}
        onFiles={uploads.add}
        onEscape={leave}
      />
      <UploadList uploads={uploads} />
      <Notes isWaiting={uploads.isBusy} warnings={warnings} />
      {edit.isOutdated && <NewerText text={edit.base} />}
      <div className="buttons">
        <button type="submit" className="primary" disabled={isBlocked}>
          {t('save')}
        </button>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <span className="editor-tools">
          <Tools {...tools} />
        </span>
      </div>
    </form>
  );
}

const keyOfEdit = (messageId: number): string => `edit ${messageId}`;

/** Adds a file to an edit that is not on screen, unless it was given up. */
function appendTo(edits: UnsavedEdits, key: string, uploaded: Uploaded): void {
  const kept = edits.get(key);
  if (kept) edits.keep(key, { ...kept, text: kept.text + linkAfter(kept.text, uploaded) });
}

/** Shown while the writer's text would replace one that they have not seen. */
function NewerText({ text }: { text: string }) {
  return (
    <div className="newer notes">
      <p className="warning" role="alert">
        {t('theMessageWasChangedMeanwhile')}
      </p>
      <blockquote dir="auto">{text}</blockquote>
    </div>
  );
}

/** The text that is being written for a message; undefined until the text of the message is known. */
function useEdit(messageId: number, place: Place, onClose: () => void) {
  const session = useSession();
  const { edits } = session;
  const key = editKey.message(messageId);
  const [edit, setEdit] = useState(() => edits.get(key));
  const [isSaving, setSaving] = useState(false);
  const latestClose = useRef(onClose);
  latestClose.current = onClose;
  useEffect(() => {
    if (edits.get(key)) return;
    let isCurrent = true;
    void session.actions.sourceOf(messageId).then((found) => {
      if (!isCurrent) return;
      if (found === undefined) latestClose.current();
      else setEdit({ text: found, base: found, isOutdated: false, place });
    });
    return () => {
      isCurrent = false;
    };
  }, [session, messageId]);
  const change = (next: Edit): void => {
    edits.keep(key, next);
    setEdit(next);
  };
  /** Keeps text that was typed while the message was being saved, unless the edit was cancelled. */
  const rebase = (base: string, isOutdated: boolean): void => {
    const kept = edits.get(key);
    if (kept) change({ ...kept, base, isOutdated });
  };
  const save = async (saved: Edit): Promise<void> => {
    // The text is trimmed like in the server.
    const sent = saved.text.trimEnd().replace(/^\n+/, '');
    if (saved.text === saved.base || sent === saved.base) return onClose();
    setSaving(true);
    const outcome = await session.actions.edit(messageId, sent, saved.base);
    if (outcome === 'saved') {
      // A file that was added meanwhile changes the text later.
      const hasFiles = session.writer.uploads.of(keyOfEdit(messageId)).length > 0;
      if (edits.get(key)?.text === saved.text && !hasFiles) return onClose();
      rebase(sent, false);
    } else if (outcome === 'outdated') {
      const newer = await session.actions.sourceOf(messageId);
      if (newer !== undefined) rebase(newer, true);
    }
    setSaving(false);
  };
  return { edit, change, save, isSaving };
}
