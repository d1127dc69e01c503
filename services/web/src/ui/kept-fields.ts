import { useState } from 'react';

const maxFields = 200;
/** Texts of fields and opened spoilers of messages, kept while their rows are off the screen. The last change is at the end. */
const fields = new Map<string, string | boolean>();

/** The value of a field that is not empty or closed. */
export const keptField = (name: string): string | boolean | undefined => fields.get(name);

export function keepField(name: string, value: string | boolean): void {
  fields.delete(name);
  if (value === '' || value === false) return;
  fields.set(name, value);
  const [oldest] = fields.keys();
  if (fields.size > maxFields && oldest !== undefined) fields.delete(oldest);
}

/** Like `useState`, for a value that is kept while its component is off the screen. */
export function useKept<T extends string | boolean>(name: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => (keptField(name) as T | undefined) ?? initial);
  const set = (next: T): void => {
    keepField(name, next);
    setValue(next);
  };
  return [value, set];
}
