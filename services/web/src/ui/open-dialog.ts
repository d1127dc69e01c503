import { type KeyboardEvent, useSyncExternalStore } from 'react';
import type { DraftBox } from '../session/uploads.ts';
import type { Emoji, Place } from '../state/place.ts';
import type { Status } from '../state/social.ts';
import { isOfInputMethod } from './composing.ts';

export type Dialog =
  /** `part`: the part of the dialog that is scrolled into view. */
  | { name: 'drafts'; part?: 'scheduled' }
  | { name: 'channels' | 'settings' | 'organization' | 'palette' | 'shortcuts' }
  /** `text` is put into the compose box of the chosen conversation. */
  | { name: 'new'; text?: string }
  /** Without a message, all messages of the topic are moved. */
  | { name: 'move'; place: Place & { kind: 'topic' }; messageId?: number }
  /** `draft` is the compose box that has the text. */
  | { name: 'schedule'; place: Place; text: string; draft: DraftBox }
  /** `written` is the name of the emoji in a text. */
  | { name: 'emoji'; title: string; onChoose: (chosen: Emoji, written: string) => void }
  | { name: 'person'; userId: number }
  /** `draft` is the input before an emoji was chosen. */
  | { name: 'status'; draft?: Status }
  | { name: 'remind' | 'delete' | 'history' | 'readers'; messageId: number }
  | { name: 'log out'; isEverywhere: boolean }
  /** `nth`: the index of the picture in the message. */
  | { name: 'picture'; messageId: number; nth: number };

let current: Dialog | undefined;
const listeners = new Set<() => void>();

/** Shows a dialog over the page, in place of the one that is open. */
export function openDialog(dialog: Dialog): void {
  change(dialog);
}
export const closeDialog = (): void => change(undefined);

/** Counts entries in dialogs. */
let entries = 0;
export function countEntry(): void {
  entries += 1;
}
/** Returns a function that returns whether there was an entry in a dialog since. */
export function entriesFromNow(): () => boolean {
  const before = entries;
  return () => entries !== before;
}

/**
 * Does something for the open dialog and then closes it. A dialog that was opened in the meantime stays, and so does one
 * that `isKept`. Returns undefined if the dialog stays, or had gone before the end.
 */
export async function closeAfter<Outcome>(
  work: () => Promise<Outcome>,
  isKept: () => boolean = () => false,
): Promise<Outcome | undefined> {
  const own = current;
  const outcome = await work();
  if (current !== own || isKept()) return undefined;
  closeDialog();
  return outcome;
}
/**
 * Closes the dialog before the browser does. The browser hides a dialog first and reports it later, and a key pressed
 * in between would be ignored because a dialog still seemed open.
 */
export function closeAtEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || isOfInputMethod(event.nativeEvent) || event.defaultPrevented) return;
  event.preventDefault();
  closeDialog();
}
/** Closes the dialog that schedules a message. */
export function closeScheduling(): void {
  if (current?.name === 'schedule') closeDialog();
}
/** Whether a dialog is open, or its code is being loaded. */
export const isDialogOpen = (): boolean => current !== undefined;

function change(dialog: Dialog | undefined): void {
  current = dialog;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useDialog = (): Dialog | undefined => useSyncExternalStore(subscribe, () => current);
