import { store, stored, storedBelow } from '../browser/storage.ts';
import type { Place } from '../state/place.ts';
import { keptBelow } from './kept-texts.ts';

/** The change of a message that is not saved. */
export interface Edit {
  text: string;
  /** The text of the message from which the edit started. */
  base: string;
  /** Whether the message was changed elsewhere since its text was opened: `base` is the other text then. */
  isOutdated: boolean;
  /** The conversation of the message when its text was opened. */
  place: Place;
}

/** An edit in the storage of the browser. `at`: the time of its last change, in milliseconds. */
type Stored = Edit & { at: number };

export const editKey = {
  message: (id: number): string => `message ${id}`,
  scheduled: (id: number): string => `scheduled ${id}`,
};

const maxEdits = 50;
const maxCharacters = 1_000_000;
/** A longer change stays in this page only. */
const maxStored = 100_000;

/**
 * Changes of messages that are not saved. They are kept while the row is off the screen, while another message is edited, and
 * in the storage of the browser after a reload. Tabs share the entry of a message; a tab deletes it only if no other tab has
 * changed it.
 */
export class UnsavedEdits {
  readonly #prefix: string;
  /** Edits by key, in the order of their last changes. */
  readonly #edits = new Map<string, Edit>();
  /** The stored texts that this tab wrote or read, by key. */
  readonly #known = new Map<string, string>();

  constructor(ownId: number) {
    this.#prefix = keptBelow('edit', ownId);
  }

  get(key: string): Edit | undefined {
    return this.#edits.get(key) ?? this.#read(key);
  }

  keep(key: string, edit: Edit): void {
    const isNew = !this.#edits.delete(key);
    this.#edits.set(key, edit);
    const [oldest] = this.#edits.keys();
    if (this.#edits.size > maxEdits && oldest !== undefined) this.#edits.delete(oldest);
    const { text, base } = edit;
    if (text === base || text.length + base.length > maxStored) {
      this.#forget(key);
      return;
    }
    const kept = JSON.stringify({ ...edit, at: Date.now() } satisfies Stored);
    this.#known.set(key, kept);
    store(this.#prefix + key, kept);
    if (isNew) this.#limit();
  }

  drop(key: string): void {
    this.#edits.delete(key);
    this.#forget(key);
  }

  /** An entry that another tab has changed since this tab read it is kept. */
  #forget(key: string): void {
    if (stored(this.#prefix + key) === this.#known.get(key)) store(this.#prefix + key, undefined);
    this.#known.delete(key);
  }

  /** The edit of an earlier page or of another tab. */
  #read(key: string): Edit | undefined {
    const kept = stored(this.#prefix + key);
    const value = kept === null ? undefined : parsed(kept);
    if (kept === null || !isStored(value)) return undefined;
    this.#known.set(key, kept);
    const { text, base, isOutdated, place } = value;
    return { text, base, isOutdated, place };
  }

  /** Removes the oldest entries of all tabs beyond the limits. */
  #limit(): void {
    const all = storedBelow(this.#prefix)
      .map(([key, value]) => ({ key, value: isStored(value) ? value : undefined }))
      .sort((a, b) => (b.value?.at ?? 0) - (a.value?.at ?? 0));
    let characters = 0;
    for (const [index, { key, value }] of all.entries()) {
      characters += value ? value.text.length + value.base.length : 0;
      if (!value || index >= maxEdits || characters > maxCharacters) store(this.#prefix + key, undefined);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isStored(value: unknown): value is Stored {
  const { text, base, place } = (value ?? {}) as Partial<Stored>;
  return typeof text === 'string' && typeof base === 'string' && typeof place === 'object' && place !== null;
}
