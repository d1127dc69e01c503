import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react';
import { closeAtEscape, closeDialog, countEntry } from './open-dialog.ts';

interface DialogElement {
  ref: RefObject<HTMLDialogElement | null>;
  onClose: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onInput: () => void;
}

/** Attributes of a modal dialog of the browser: it keeps the focus, ends with Escape, and gives the focus back. */
export function useDialogElement(): DialogElement {
  const ref = useRef<HTMLDialogElement>(null);
  // The browser gives the focus back only if the dialog is closed while it is in the page.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  // The browser also reports the end of a dialog that another one has replaced, which stays open.
  const onClose = (): void => {
    if (ref.current?.open === false) closeDialog();
  };
  return { ref, onClose, onKeyDown: closeAtEscape, onInput: countEntry };
}
