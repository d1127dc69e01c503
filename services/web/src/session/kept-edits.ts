import type { Place } from '../state/place.ts';

export interface KeptEdit {
  place: Place | undefined;
  text: string;
}

const prefixOf = (ownId: number): string => `natter draft ${ownId} `;

/** Texts that the server does not have yet survive a reload. */
export function keepEdit(ownId: number, key: string, edit: KeptEdit): void {
  localStorage.setItem(prefixOf(ownId) + key, JSON.stringify(edit));
}

export function dropKeptEdit(ownId: number, key: string): void {
  localStorage.removeItem(prefixOf(ownId) + key);
}

export function readKeptEdits(ownId: number): [string, KeptEdit][] {
  const prefix = prefixOf(ownId);
  return Object.keys(localStorage).flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const edit = parsed(localStorage.getItem(name) ?? '');
    return edit && typeof edit.text === 'string' ? [[name.slice(prefix.length), edit]] : [];
  });
}

function parsed(text: string): KeptEdit | null | undefined {
  try {
    return JSON.parse(text) as KeptEdit | null;
  } catch {
    return undefined;
  }
}
