import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Message } from '../state/place.ts';
import { t } from '../text/text.ts';
import { isOfInputMethod } from './composing.ts';
import { editedText, keepEditedText, takesFocus } from './editing.ts';
import { useSession } from './session-context.tsx';

const maxRows = 14;

/** Changes the text of a message in its place. */
export function MessageEditor({ message, onClose: close }: { message: Message; onClose: () => void }) {
  const session = useSession();
  const [text, setText] = useState(() => editedText(message.id));
  const [isSaving, setSaving] = useState(false);
  const source = useRef<string>(undefined);
  const box = useRef<HTMLTextAreaElement>(null);
  const onClose = (): void => {
    keepEditedText(message.id, undefined);
    close();
  };
  const latestClose = useRef(onClose);
  latestClose.current = onClose;
  useEffect(() => {
    let isCurrent = true;
    void session.actions.sourceOf(message.id).then((found) => {
      if (!isCurrent) return;
      if (found === undefined) return editedText(message.id) === undefined ? latestClose.current() : undefined;
      source.current = found;
      setText((kept) => kept ?? found);
    });
    return () => {
      isCurrent = false;
    };
  }, [session, message.id]);
  useEffect(() => {
    if (text === undefined || !takesFocus(message.id)) return;
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, [text === undefined]);
  if (text === undefined) return <p role="status">{t('loadingTheText')}</p>;
  const save = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault();
    if (text.trim() === '' || isSaving) return;
    if (text === source.current) return onClose();
    setSaving(true);
    const isSaved = await session.actions.edit(message.id, text);
    // Keep the text that was typed meanwhile.
    if (isSaved && editedText(message.id) === text) return onClose();
    if (isSaved) source.current = text;
    setSaving(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isOfInputMethod(event.nativeEvent)) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void save();
    }
  };
  return (
    <form className="editor" onSubmit={(event) => void save(event)}>
      <textarea
        ref={box}
        aria-label={t('textOfTheMessage')}
        value={text}
        rows={Math.min(maxRows, Math.max(2, text.split('\n').length))}
        onChange={(event) => {
          keepEditedText(message.id, event.target.value);
          setText(event.target.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="buttons">
        <button type="submit" className="primary" disabled={isSaving || text.trim() === ''}>
          {t('save')}
        </button>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
      </div>
    </form>
  );
}
