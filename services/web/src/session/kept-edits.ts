import type { Place } from '../state/place.ts';
import { store, storedBelow } from './storage.ts';

export interface KeptEdit {
  place: Place | undefined;
  text: string;
  /** The draft that it changes. */
  draftId?: number | undefined;
}

const prefixOf = (ownId: number): string => `natter draft ${ownId} `;

/** Keeps a text that the server does not have yet, so that it survives a reload. */
export function keepEdit(ownId: number, key: string, edit: KeptEdit): void {
  store(prefixOf(ownId) + key, JSON.stringify(edit));
}

export function dropKeptEdit(ownId: number, key: string): void {
  store(prefixOf(ownId) + key, undefined);
}

export function readKeptEdits(ownId: number): [string, KeptEdit][] {
  const kept = storedBelow(prefixOf(ownId)) as [string, KeptEdit | null][];
  return kept.flatMap(([key, edit]) => (typeof edit?.text === 'string' ? [[key, edit]] : []));
}
