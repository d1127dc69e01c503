interface SearchFieldProps {
  /** The label of the field, which is its placeholder too. */
  label: string;
  text: string;
  onChange: (text: string) => void;
}

/** Filters a list by a text. */
export function SearchField({ label, text, onChange }: SearchFieldProps) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
