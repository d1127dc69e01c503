import { useEffect } from 'react';
import { textOf } from '../state/edits.ts';
import { keyOf, type Place } from '../state/place.ts';
import { Preview } from './compose-preview.tsx';
import { composeTakesFocus } from './compose-text.ts';
import { Toolbar } from './compose-toolbar.tsx';
import { UploadList } from './compose-uploads.tsx';
import { openDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';
import { TextBox } from './text-box.tsx';
import { TypingLine } from './typing-line.tsx';
import { useWriting } from './use-writing.ts';
import { Notes, useWarnings } from './writing-notes.tsx';

interface EditorProps {
  draftKey: string;
  /** The conversation of the draft; undefined while none is chosen. */
  place: Place | undefined;
  /** The destination of the message, if its draft has no place. */
  target?: Place;
  label: string;
  onSend: (content: string) => void;
  /** The reason why the text cannot be sent. */
  problem: string | undefined;
  /** The reason why nothing can be sent here, which is shown before anything is written. */
  barrier: string | undefined;
  isFocused?: boolean;
}

export function Editor(props: EditorProps) {
  const { draftKey, place, target = place, label, onSend, barrier, isFocused = false } = props;
  const { text, setText } = useDraft(draftKey, place);
  const { box, uploads, isPreview, setPreview, dropTarget, tools } = useWriting({ key: draftKey, place });
  useFirstFocus(box, draftKey, isFocused);
  const warnings = useWarnings(text, target);
  const problem = barrier ?? (text === '' ? undefined : props.problem);
  const isBlocked = text.trim() === '' || problem !== undefined || warnings.left < 0 || uploads.isBusy;
  const submit = (): void => {
    if (isBlocked) return;
    onSend(text);
    setText('');
    setPreview(false);
  };
  const schedule = (): void => {
    if (!isBlocked && target) openDialog({ name: 'schedule', place: target, text, draft: { key: draftKey, place } });
  };
  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      {...dropTarget}
    >
      {target && <TypingLine placeKey={keyOf(target)} />}
      {isPreview && <Preview content={text} />}
      <TextBox
        {...{ box, text, setText, label, submit, place: target }}
        rows={[1, 10]}
        isCompose
        isHidden={isPreview}
        onFiles={uploads.add}
      />
      <UploadList uploads={uploads} />
      <Notes problem={problem} isWaiting={uploads.isBusy} warnings={warnings} />
      <Toolbar tools={tools} isBlocked={isBlocked} onSchedule={target ? schedule : undefined} />
    </form>
  );
}

/** The text of a conversation, which the server keeps until it is sent. */
function useDraft(key: string, place: Place | undefined) {
  const session = useSession();
  const text = useSelected((state) => textOf(state.composing, state.model.writing, key));
  useEffect(() => () => session.writer.leave(key), [session, key]);
  return { text, setText: (next: string): void => session.writer.edit(key, place, next) };
}

function useFirstFocus(box: React.RefObject<HTMLTextAreaElement | null>, key: string, isFocused: boolean): void {
  useEffect(() => {
    // Added text follows the draft.
    const end = box.current?.value.length ?? 0;
    box.current?.setSelectionRange(end, end);
    const takesFocus = composeTakesFocus(key) && isFocused;
    // On phones, a focused box opens the keyboard over the messages.
    if (takesFocus && matchMedia('(hover: hover)').matches) box.current?.focus({ preventScroll: true });
  }, [isFocused, key, box]);
}
