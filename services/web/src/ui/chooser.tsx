import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../text/text.ts';
import { isOfInputMethod } from './composing.ts';

export interface Choice {
  key: string;
  label: string;
  hint?: string;
  picture?: ReactNode;
}

interface ChooserProps<C extends Choice> {
  label: string;
  placeholder: string;
  choicesFor: (text: string) => readonly C[];
  onChoose: (choice: C) => void;
  /** Number of columns. If there are several, the choices are shown as a grid of pictures. */
  columns?: number;
}

/** A text field with a list. Typing filters the list, arrow keys move the selection, Enter chooses. */
export function Chooser<C extends Choice>({ label, placeholder, choicesFor, onChoose, columns = 1 }: ChooserProps<C>) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const choices = choicesFor(text);
  const active = Math.min(chosen, choices.length - 1);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isOfInputMethod(event.nativeEvent)) return;
    const choice = choices[active];
    const step = stepOf(event.key, columns);
    if (step !== undefined) {
      event.preventDefault();
      setChosen(Math.max(0, Math.min(choices.length - 1, active + step)));
    } else if (event.key === 'Enter' && choice) {
      event.preventDefault();
      onChoose(choice);
    }
  };
  return (
    <>
      <input
        className="chooser-input"
        role="combobox"
        aria-label={label}
        aria-expanded={choices.length > 0}
        aria-controls={`${id}list`}
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `${id}${active}` : undefined}
        placeholder={placeholder}
        // biome-ignore lint/a11y/noAutofocus: the field is the purpose of the dialog around it.
        autoFocus
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        ref={list}
        id={`${id}list`}
        className="choices"
        data-columns={columns}
        role="listbox"
        aria-label={label}
        tabIndex={-1}
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the text field.
          // biome-ignore lint/a11y/useFocusableInteractive: the field above has the focus.
          <div
            key={choice.key}
            id={`${id}${index}`}
            className="choice"
            role="option"
            aria-selected={index === active}
            aria-label={columns > 1 ? choice.label : undefined}
            title={columns > 1 ? choice.label : undefined}
            onClick={() => onChoose(choice)}
          >
            {choice.picture}
            {columns === 1 && <span className="label">{choice.label}</span>}
            {choice.hint !== undefined && <span className="choice-hint">{choice.hint}</span>}
          </div>
        ))}
      </div>
      <p className="hint" role="status">
        {choices.length === 0 ? t('nothingFound') : columns > 1 ? choices[active]?.label : ''}
      </p>
    </>
  );
}

function stepOf(key: string, columns: number): number | undefined {
  if (key === 'ArrowDown') return columns;
  if (key === 'ArrowUp') return -columns;
  if (columns > 1 && key === 'ArrowRight') return 1;
  if (columns > 1 && key === 'ArrowLeft') return -1;
  return undefined;
}
