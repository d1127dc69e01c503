import { useState } from 'react';

/** The values that a page knows, those that the fields of its form began with, and those in the fields. */
interface FormState<T> {
  known: T;
  before: T;
  values: T;
}

/** The values that differ from the earlier ones. */
export function changesOf<T extends object>(before: T, values: T): Partial<T> {
  const all = Object.entries(values).filter(([name, value]) => value !== before[name as keyof T]);
  return Object.fromEntries(all) as Partial<T>;
}

/** Fields that nobody edits show values that became known; edited ones keep theirs. */
export function followed<T extends object>(state: FormState<T>, known: T): FormState<T> {
  const news = changesOf(state.known, known);
  if (Object.keys(news).length === 0) return state;
  const edited = changesOf(state.before, state.values);
  const shown = Object.fromEntries(Object.entries(news).filter(([name]) => !(name in edited)));
  return { known, before: { ...state.before, ...shown }, values: { ...state.values, ...shown } };
}

/**
 * The fields of a form that changes what the server has. Only `changed` is sent, because somebody else may change the
 * other values meanwhile.
 */
export function useForm<T extends object>(known: T) {
  const [state, setState] = useState<FormState<T>>({ known, before: known, values: known });
  const now = followed(state, known);
  if (now !== state) setState(now);
  const { before, values } = now;
  const changed = changesOf(before, values);
  return {
    before,
    values,
    changed,
    isChanged: Object.keys(changed).length > 0,
    set: (some: Partial<T>): void => setState((all) => ({ ...all, values: { ...all.values, ...some } })),
    /** Sends the changed values. From then on, a field is changed if it differs from what was sent. */
    save: async (send: (changed: Partial<T>) => Promise<unknown>): Promise<void> => {
      await send(changed);
      setState((all) => ({ ...all, before: { ...all.before, ...changed } }));
    },
    /** Sends the values of something new, and empties the fields except those that were edited meanwhile. */
    add: async (send: (values: T) => Promise<unknown>): Promise<void> => {
      await send(values);
      setState((all) => ({ ...all, values: { ...before, ...changesOf(values, all.values) } }));
    },
  };
}
