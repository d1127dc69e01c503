interface SectionsProps<T extends string> {
  title: string;
  names: readonly T[];
  current: T;
  onChoose: (name: T) => void;
}

/** Leads to the sections of a dialog. */
export function Sections<T extends string>({ title, names, current, onChoose }: SectionsProps<T>) {
  return (
    <nav className="sections-of" aria-label={title}>
      {names.map((one) => (
        <button
          key={one}
          type="button"
          className="plain"
          aria-current={one === current ? 'page' : undefined}
          onClick={() => onChoose(one)}
        >
          {one}
        </button>
      ))}
    </nav>
  );
}
