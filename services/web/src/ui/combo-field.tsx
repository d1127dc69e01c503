import { useId } from 'react';
import { comboboxProps, SuggestionList } from './suggestion-list.tsx';
import { useListKeys } from './use-list-keys.ts';

type Found = Parameters<typeof useListKeys>[0];

interface ComboFieldProps {
  label: string;
  /** The name of the list for screen readers. */
  list: string;
  value: string;
  found: Found;
  onChange: (text: string) => void;
  onChoose: (one: Found[number]) => void;
}

/** A text field in a dialog, with a list of suggestions. */
export function ComboField({ label, list, value, found, onChange, onChoose }: ComboFieldProps) {
  const id = useId();
  const inputId = useId();
  const keys = useListKeys(found, onChoose);
  return (
    <div className="field">
      <label htmlFor={inputId}>{label}</label>
      <span className="anchor">
        <input
          id={inputId}
          value={value}
          autoComplete="off"
          {...comboboxProps(id, keys.all.length > 0, keys.active)}
          onChange={(event) => {
            onChange(event.target.value);
            keys.open();
          }}
          onKeyDown={keys.onKeyDown}
        />
        {keys.all.length > 0 && (
          <SuggestionList id={id} label={list} all={keys.all} active={keys.active} onChoose={keys.choose} />
        )}
      </span>
    </div>
  );
}
