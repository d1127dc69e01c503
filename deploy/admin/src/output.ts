/** Prints the output of a command: lines of text, or with `--json` one JSON value on standard output. */
export interface Output {
  readonly isJson: boolean;
  /** Prints one record: the value of each field under its name. */
  record(values: Record<string, unknown>): void;
  /** Prints several records with the same fields, or the text `none` if `rows` is empty. */
  table(rows: readonly Record<string, unknown>[], none: string): void;
  /** Prints the result, as text and as fields. */
  done(text: string, values: object): void;
  /** Prints progress. With `--json` it goes to standard error. */
  progress(line: string): void;
}

const people: Output = {
  isJson: false,
  record: (values) => {
    for (const [name, value] of Object.entries(values)) console.log(`${name}: ${value}`);
  },
  table: (rows, none) => {
    if (rows.length > 0) console.table(rows);
    else console.log(none);
  },
  done: (text) => console.log(text),
  progress: (line) => console.log(line),
};

const json = (value: unknown): void => console.log(JSON.stringify(value, null, 2));
const programs: Output = {
  isJson: true,
  record: json,
  table: (rows) => json(rows),
  done: (_, values) => json(values),
  progress: (line) => console.error(line),
};

export const outputFor = (isJson: boolean): Output => (isJson ? programs : people);
