import { useLayoutEffect, useSyncExternalStore } from 'react';
import type { Message } from '../state/place.ts';

/** The list on screen, for the keys. */
export interface Reading {
  /** The message that keys act on. */
  current(): Message | undefined;
  move(step: number): void;
  end(): void;
}

let reading: Reading | undefined;
export const currentList = (): Reading | undefined => reading;

/** A key that is pressed as soon as the list is visible acts on it, so this cannot wait until after the paint. */
export function useReading(own: Reading): void {
  useLayoutEffect(() => {
    reading = own;
    return () => {
      if (reading === own) reading = undefined;
    };
  });
}

/** Ends the edit of a message, unless another one is being edited by now. */
export function endEdit(messageId: number): void {
  if (edited === messageId) edit(undefined);
}

let edited: number | undefined;
export const editedNow = (): number | undefined => edited;
/** The message whose text box has yet to take the focus. */
let unfocused: number | undefined;
const listeners = new Set<() => void>();

/** Begins to edit a message; `undefined` ends it. */
export function edit(messageId: number | undefined): void {
  if (edited !== messageId) unfocused = messageId;
  edited = messageId;
  for (const listener of listeners) listener();
}

/** The text box of the edited message takes the focus again when its row appears. */
export function editAgain(): void {
  unfocused = edited;
}

/** Whether the text box of a message takes the focus: once for each edit, not when its row comes back to the screen. */
export function takesFocus(messageId: number): boolean {
  if (unfocused !== messageId) return false;
  unfocused = undefined;
  return true;
}

/** The edited message whose text is on its way. */
let awaited: number | undefined;
/** Returns a function that ends the wait. */
export function awaitText(messageId: number): () => void {
  awaited = messageId;
  return () => {
    if (awaited === messageId) awaited = undefined;
  };
}
/** Whether the keys of a writer are meant for a text that is not there yet. */
export const isTextAwaited = (): boolean => awaited !== undefined && !isElsewhere(awaited);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useEditing = (): number | undefined => useSyncExternalStore(subscribe, () => edited);

/** Whether the reader works in another place of the page than this message. */
export function isElsewhere(messageId: number): boolean {
  const { activeElement, body } = document;
  return activeElement !== null && activeElement !== body && !activeElement.closest(`[data-message="${messageId}"]`);
}

/** The message on the page after this one, or else the one before it. */
export function neighbourOf(messageId: number): number | undefined {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-message]')];
  const at = rows.findIndex((row) => row.dataset.message === String(messageId));
  const neighbour = at < 0 ? undefined : (rows[at + 1] ?? rows[at - 1]);
  return neighbour && Number(neighbour.dataset.message);
}

/** Whether the message is on the page. */
export function focusMessage(messageId: number | undefined): boolean {
  const element = document.querySelector<HTMLElement>(`[data-message="${messageId}"]`);
  element?.focus({ preventScroll: true });
  return element !== null;
}

export const focusList = (): void => document.querySelector<HTMLElement>('.messages')?.focus({ preventScroll: true });
