interface SectionsProps<T extends string> {
  title: string;
  /** The names of the sections with their labels. */
  names: readonly (readonly [name: T, label: string])[];
  current: T;
  onChoose: (name: T) => void;
}

/** Leads to the sections of a dialog. */
export function Sections<T extends string>({ title, names, current, onChoose }: SectionsProps<T>) {
  return (
    <nav className="sections-of" aria-label={title}>
      {names.map(([one, label]) => (
        <button
          key={label}
          type="button"
          className="plain"
          aria-current={one === current ? 'page' : undefined}
          onClick={() => onChoose(one)}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}
