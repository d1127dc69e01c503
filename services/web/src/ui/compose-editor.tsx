import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Suggestion } from '../state/completion.ts';
import { textOf } from '../state/edits.ts';
import { may } from '../state/permissions.ts';
import { keyOf, type Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { Preview } from './compose-preview.tsx';
import { composeTakesFocus } from './compose-text.ts';
import { Toolbar } from './compose-toolbar.tsx';
import { UploadList, useUploads } from './compose-uploads.tsx';
import { warningsOf } from './compose-warnings.ts';
import { isOfInputMethod } from './composing.ts';
import { insertText, insertWord } from './insert-text.ts';
import { openDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';
import { comboboxProps, SuggestionList } from './suggestion-list.tsx';
import { TypingLine } from './typing-line.tsx';
import { useSuggestions } from './use-suggestions.ts';

interface EditorProps {
  draftKey: string;
  /** The conversation of the draft; undefined while none is chosen. */
  place: Place | undefined;
  /** The destination of the message, if its draft has no place. */
  target?: Place;
  label: string;
  onSend: (content: string) => void;
  /** The reason why nothing can be sent. */
  problem: string | undefined;
  isFocused?: boolean;
}

export function Editor({ draftKey, place, target = place, label, onSend, problem, isFocused = false }: EditorProps) {
  const { text, setText } = useDraft(draftKey, place);
  const characters = useSelected(({ model }) => model.writing.limits.message);
  const mayMentionMany = useSelected(({ model }) => may(model, 'can_mention_many_users_group'));
  const box = useRef<HTMLTextAreaElement>(null);
  const [isPreview, setPreview] = useState(false);
  const uploads = useUploads(draftKey, place, box);
  useFirstFocus(box, draftKey, isFocused);
  const warnings = warningsOf(text, target, { characters, mayMentionMany });
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
  const insertEmoji = (written: string): void => {
    setPreview(false);
    // The dialog gives the focus back to the button before the text takes it.
    setTimeout(() => box.current && insertWord(box.current, written));
  };
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    uploads.add([...event.dataTransfer.files]);
  };
  return (
    <form
      className="compose"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={onDrop}
    >
      {target && <TypingLine placeKey={keyOf(target)} />}
      {isPreview && <Preview content={text} />}
      <TextBox {...{ box, text, setText, label, submit, place: target }} isHidden={isPreview} onFiles={uploads.add} />
      <UploadList uploads={uploads} />
      <Notes problem={text === '' ? undefined : problem} warnings={warnings} />
      <Toolbar
        isPreview={isPreview}
        isBlocked={isBlocked}
        onPreview={() => setPreview(!isPreview)}
        onFiles={uploads.add}
        onEmoji={() =>
          openDialog({ name: 'emoji', title: t('addAnEmoji'), onChoose: (_emoji, written) => insertEmoji(written) })
        }
        onSchedule={target ? schedule : undefined}
      />
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

interface TextBoxProps {
  box: React.RefObject<HTMLTextAreaElement | null>;
  text: string;
  setText: (text: string) => void;
  label: string;
  place: Place | undefined;
  isHidden: boolean;
  submit: () => void;
  onFiles: (files: readonly File[]) => void;
}

function TextBox({ box, text, setText, label, place, isHidden, submit, onFiles }: TextBoxProps) {
  const id = useId();
  const [caret, setCaret] = useState<number>();
  const suggestions = useSuggestions(text, caret, place);
  const isOpen = suggestions.all.length > 0;
  const choose = ({ insert }: Suggestion): void => {
    if (box.current && suggestions.token) insertText(box.current, insert, suggestions.token.start, caret ?? 0);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const taken = suggestions.onKey(event);
    const sends = event.key === 'Enter' && !event.shiftKey && !isOfInputMethod(event.nativeEvent);
    if (taken === false && !sends) return;
    event.preventDefault();
    if (typeof taken === 'object') choose(taken);
    else if (taken === false) submit();
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    onFiles([...event.clipboardData.files]);
  };
  const follow = (): void => setCaret(box.current?.selectionEnd);
  return (
    <div className="anchor" hidden={isHidden}>
      {isOpen && (
        <SuggestionList
          id={id}
          label={t('suggestions')}
          all={suggestions.all}
          active={suggestions.active}
          onChoose={choose}
        />
      )}
      <textarea
        ref={box}
        id="compose"
        aria-label={label}
        placeholder={label}
        rows={Math.min(10, Math.max(1, text.split('\n').length))}
        dir="auto"
        value={text}
        {...comboboxProps(id, isOpen, suggestions.active)}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionEnd);
        }}
        onSelect={follow}
        onBlur={() => setCaret(undefined)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <span className="hidden" role="status">
        {isOpen ? t('suggestionCount', { count: suggestions.all.length }) : ''}
      </span>
    </div>
  );
}

const nearLimit = 500;

function Notes({ problem, warnings }: { problem: string | undefined; warnings: ReturnType<typeof warningsOf> }) {
  const { left, mention } = warnings;
  return (
    <div className="notes" role="status">
      {problem !== undefined && <p className="alarm">{problem}</p>}
      {mention !== undefined && <p className="warning">{mention}</p>}
      {left < nearLimit && (
        <p className={left < 0 ? 'alarm' : 'faint'}>
          {left < 0 ? t('tooLong', { count: -left }) : t('charactersLeft', { count: left })}
        </p>
      )}
    </div>
  );
}
