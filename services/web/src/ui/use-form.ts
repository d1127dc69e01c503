import { useEffect, useRef, useState } from 'react';

/** The known values, the values with which the fields are compared, and the values in the fields. */
interface FormState<T> {
  known: T;
  before: T;
  values: T;
}

/** Merges the user's edits into newly received values. */
type Merge<T> = (edited: Pick<FormState<T>, 'before' | 'values'>, known: T) => Partial<T>;

/** The values that differ from the earlier ones. */
export function changesOf<T extends object>(before: T, values: T): Partial<T> {
  return picked(values, (name) => values[name] !== before[name]);
}

function picked<T extends object>(values: T, isWanted: (name: keyof T) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isWanted(name as keyof T))) as Partial<T>;
}

/**
 * Unedited fields show newly received values. An edited field keeps its value, or shows the merged one. It is then changed
 * if it differs from the known value.
 */
export function followed<T extends object>(state: FormState<T>, known: T, merge?: Merge<T>): FormState<T> {
  const news = changesOf(state.known, known);
  if (Object.keys(news).length === 0) return state;
  const { before, values } = state;
  const isEdited = (name: keyof T): boolean => values[name] !== before[name];
  const shown = picked(news, (name) => !isEdited(name));
  const merged = merge ? picked(merge(state, known), (name) => name in news && isEdited(name)) : {};
  return { known, before: { ...before, ...news }, values: { ...values, ...shown, ...merged } };
}

/**
 * The fields after a save. `before` has the values with which they were compared when it began. A field is then changed if
 * it differs from the sent value. A value that was received during the request is newer than the sent one.
 */
export function saved<T extends object>(state: FormState<T>, sent: Partial<T>, before: T): FormState<T> {
  const hasNews = (name: keyof T): boolean => state.before[name] !== before[name];
  const shown = picked(state.before, (name) => name in sent && hasNews(name) && state.values[name] === sent[name]);
  return {
    ...state,
    before: { ...state.before, ...picked(sent, (name) => !hasNews(name)) },
    values: { ...state.values, ...shown },
  };
}

/**
 * The fields of a form that changes values of the server. Only `changed` is sent, because somebody else may change the other
 * values meanwhile.
 */
export function useForm<T extends object>(known: T, merge?: Merge<T>) {
  const [state, setState] = useState<FormState<T>>({ known, before: known, values: known });
  const now = followed(state, known, merge);
  if (now !== state) setState(now);
  const { before, values } = now;
  const changed: Partial<T> = changesOf(before, values);
  /** Undefined after the form was closed. */
  const shown = useRef<T>(undefined);
  useEffect(() => {
    shown.current = values;
    return () => {
      shown.current = undefined;
    };
  }, [values]);
  return {
    before,
    values,
    changed,
    isChanged: Object.keys(changed).length > 0,
    set: (some: Partial<T>): void => setState((all) => ({ ...all, values: { ...all.values, ...some } })),
    /** Sends the changed values. */
    save: async (send: (changed: Partial<T>) => Promise<unknown>): Promise<void> => {
      await send(changed);
      setState((all) => saved(all, changed, before));
    },
    /**
     * Sends the values of a new entry, and empties all fields that were not edited meanwhile. Returns whether the form is
     * still shown and all its fields are empty.
     */
    add: async (send: (values: T) => Promise<unknown>): Promise<boolean> => {
      await send(values);
      setState((all) => ({ ...all, values: { ...before, ...changesOf(values, all.values) } }));
      return shown.current !== undefined && Object.keys(changesOf(values, shown.current)).length === 0;
    },
  };
}
