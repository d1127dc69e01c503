import { useLayoutEffect, useRef } from 'react';
import type { Suggestion } from '../state/completion.ts';

interface ListProps {
  id: string;
  label: string;
  all: readonly Suggestion[];
  active: number;
  onChoose: (suggestion: Suggestion) => void;
}

/** The list of a combobox. The focus stays in the text. */
export function SuggestionList({ id, label, all, active, onChoose }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const top = list.current?.closest('.messages')?.getBoundingClientRect().top;
    if (!list.current || top === undefined) return;
    // Above a text near the top of the messages, the list would be cut.
    list.current.dataset.below = 'false';
    list.current.dataset.below = String(list.current.getBoundingClientRect().top < top);
  }, [all]);
  return (
    <div ref={list} className="completions" role="listbox" id={id} aria-label={label}>
      {all.map((one, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox.
        <div
          key={one.key}
          id={optionId(id, index)}
          className="completion"
          role="option"
          aria-selected={index === active}
          tabIndex={-1}
          // The text keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(one)}
        >
          {one.mark ? <span aria-hidden="true">{one.mark}</span> : null}
          <bdi>{one.label}</bdi>
          <span className="faint">{one.detail}</span>
        </div>
      ))}
    </div>
  );
}

const optionId = (id: string, index: number): string => `${id}-${index}`;

/** The ARIA attributes of a text box with a list; it is a combobox while the list is open. */
export function comboboxProps(id: string, isOpen: boolean, active: number) {
  if (!isOpen) return { 'aria-autocomplete': 'list' as const };
  return {
    role: 'combobox' as const,
    'aria-autocomplete': 'list' as const,
    'aria-expanded': true,
    'aria-controls': id,
    'aria-activedescendant': optionId(id, active),
  };
}
