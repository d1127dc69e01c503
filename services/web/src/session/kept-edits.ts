import { store, storedBelow } from '../browser/storage.ts';
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

/** Separates the key of a conversation from the name of the tab in the name of an entry. */
const separator = '\n';

/**
 * Stores texts that the server does not have yet, so that they survive a reload. Each tab has its own entry of a conversation,
 * which only a tab that continues its text removes.
 */
export class KeptEdits {
  readonly #prefix: string;

  constructor(ownId: number) {
    this.#prefix = keptBelow('draft', ownId);
  }

  keep(key: string, edit: KeptEdit): void {
    store(this.#nameOf(key), JSON.stringify(edit));
  }

  drop(key: string): void {
    store(this.#nameOf(key), undefined);
  }

  #nameOf(key: string): string {
    return this.#prefix + key + separator + ownTab;
  }

  /**
   * Takes the texts of tabs that are gone, by conversation: their entries are removed. A tab that is there holds the lock of
   * its name.
   */
  take(heldLocks: HeldLocks): [string, KeptEdit][] {
    const taken = new Map<string, KeptEdit[]>();
    for (const [name, value] of storedBelow(this.#prefix)) {
      // Entries of earlier releases have no name of a tab.
      const [, key = name, tab] = /^(.*)\n(.*)$/s.exec(name) ?? [];
      const edit = value as KeptEdit | null;
      if (typeof edit?.text !== 'string' || heldLocks.has(tab)) continue;
      store(this.#prefix + name, undefined);
      taken.set(key, [...(taken.get(key) ?? []), edit]);
    }
    return [...taken].map(([key, edits]) => [key, joined(edits)]);
  }
}

/** The texts of several tabs as one. */
function joined(edits: readonly KeptEdit[]): KeptEdit {
  const texts = [...new Set(edits.map(({ text }) => text))];
  return {
    place: edits.find(({ place }) => place)?.place,
    text: texts.filter((text) => text !== '').join('\n\n'),
    draftId: edits.find(({ draftId }) => draftId !== undefined)?.draftId,
    known: [...texts, ...edits.flatMap(({ known = [] }) => known)],
  };
}
