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
/** The message whose text box has yet to take the focus. */
let unfocused: number | undefined;
const listeners = new Set<() => void>();

/** Begins to edit a message; `undefined` ends it. */
export function edit(messageId: number | undefined): void {
  if (edited !== messageId) unfocused = messageId;
  edited = messageId;
  for (const listener of listeners) listener();
}

/** The text box of the edited message takes the focus again where its row appears. */
export function editAgain(): void {
  unfocused = edited;
}

/** Whether the text box of a message takes the focus: once for each edit, not when its row comes back to the screen. */
export function takesFocus(messageId: number): boolean {
  if (unfocused !== messageId) return false;
  unfocused = undefined;
  return true;
}

const maxTexts = 50;
/** By message, the one that was changed last at the end. */
const texts = new Map<number, string>();

/** The unsaved text of a message, also while its row is off the screen or another message is being edited. */
export const editedText = (messageId: number): string | undefined => texts.get(messageId);
export function keepEditedText(messageId: number, text: string | undefined): void {
  texts.delete(messageId);
  if (text === undefined) return;
  texts.set(messageId, text);
  const [oldest] = texts.keys();
  if (texts.size > maxTexts && oldest !== undefined) texts.delete(oldest);
}

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

/** Whether the message is on the page. */
export function focusMessage(messageId: number): boolean {
  const element = document.querySelector<HTMLElement>(`[data-message="${messageId}"]`);
  element?.focus({ preventScroll: true });
  return element !== null;
}
