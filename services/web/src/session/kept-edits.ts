import { store, stored, storedBelow } from '../browser/storage.ts';
import type { Place } from '../state/place.ts';
import { keptBelow } from './kept-texts.ts';
import { type HeldLocks, ownTab } from './tabs.ts';

export interface KeptEdit {
  place: Place | undefined;
  text: string;
  /** The draft that it changes. */
  draftId?: number | undefined;
  /** Texts of the draft that this page received or sent. Any other text comes from another client. */
  known?: readonly string[] | undefined;
}

/** With the tab that wrote it. */
type Stored = KeptEdit & { tab?: string };

/**
 * Stores texts that the server does not have yet, so that they survive a reload. Tabs share the entry of a conversation; a
 * tab deletes it only if no other tab has changed it.
 */
export class KeptEdits {
  readonly #prefix: string;
  readonly #written = new Map<string, string>();

  constructor(ownId: number) {
    this.#prefix = keptBelow('draft', ownId);
  }

  keep(key: string, edit: KeptEdit): void {
    const text = JSON.stringify({ ...edit, tab: ownTab } satisfies Stored);
    this.#written.set(key, text);
    store(this.#prefix + key, text);
  }

  drop(key: string): void {
    if (stored(this.#prefix + key) === this.#written.get(key)) store(this.#prefix + key, undefined);
    this.#written.delete(key);
  }

  /** The texts of tabs that are gone. A tab that is there holds the lock of its name. */
  read(heldLocks: HeldLocks): [string, KeptEdit][] {
    const kept = storedBelow(this.#prefix) as [string, Stored | null][];
    return kept.flatMap(([key, edit]) => {
      if (typeof edit?.text !== 'string' || (edit.tab !== undefined && heldLocks.has(edit.tab))) return [];
      this.#written.set(key, stored(this.#prefix + key) ?? '');
      return [[key, edit]];
    });
  }
}
