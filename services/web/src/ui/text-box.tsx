import { type ClipboardEvent, type KeyboardEvent, type RefObject, useId, useState } from 'react';
import type { Suggestion } from '../state/completion.ts';
import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { isOfInputMethod, isSendKey } from './composing.ts';
import { enterSends } from './enter-sends.ts';
import { insertText } from './insert-text.ts';
import { comboboxProps, SuggestionList } from './suggestion-list.tsx';
import { useSuggestions } from './use-suggestions.ts';

interface TextBoxProps {
  box: RefObject<HTMLTextAreaElement | null>;
  text: string;
  setText: (text: string) => void;
  label: string;
  /** The conversation of the text; undefined while none is chosen. */
  place: Place | undefined;
  /** The least and the most lines that are visible. */
  rows: readonly [min: number, max: number];
  /** The box of a new message, which keys of the page lead to. */
  isCompose?: boolean;
  isHidden: boolean;
  submit: () => void;
  onFiles: (files: readonly File[]) => void;
  onEscape?: (() => void) | undefined;
}

/** The text of a message while it is written, with suggestions. Files that are pasted are not part of the text. */
export function TextBox(props: TextBoxProps) {
  const { box, text, setText, label, place, rows, isCompose = false, isHidden, submit, onFiles, onEscape } = props;
  const id = useId();
  const [caret, setCaret] = useState<number>();
  const suggestions = useSuggestions(text, caret, { place, hasCommands: isCompose });
  const isOpen = suggestions.all.length > 0;
  const choose = ({ insert }: Suggestion): void => {
    if (box.current && suggestions.token) insertText(box.current, insert, suggestions.token.start, caret ?? 0);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const taken = suggestions.onKey(event);
    const act = taken === false ? actionOf(event, { submit, onEscape }) : undefined;
    if (taken === false && !act) return;
    event.preventDefault();
    if (typeof taken === 'object') choose(taken);
    else act?.();
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    onFiles([...event.clipboardData.files]);
  };
  const follow = (): void => setCaret(box.current?.selectionEnd);
  const [least, most] = rows;
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
        {...(isCompose ? { id: 'compose', placeholder: label } : {})}
        aria-label={label}
        rows={Math.min(most, Math.max(least, text.split('\n').length))}
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

/** The action of a key that the suggestion list does not handle. */
function actionOf(
  { nativeEvent: event }: KeyboardEvent,
  { submit, onEscape }: Pick<TextBoxProps, 'submit' | 'onEscape'>,
): (() => void) | undefined {
  if (isSendKey(event, enterSends)) return submit;
  return event.key === 'Escape' && !isOfInputMethod(event) ? onEscape : undefined;
}
