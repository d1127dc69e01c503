import './modal.css';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { closeAtEscape, closeDialog } from './open-dialog.ts';

/** A modal dialog of the browser: it keeps the focus, ends with Escape, and gives the focus back. */
export function Modal({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  // The browser gives the focus back only if the dialog is closed while it is in the page.
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      className="modal"
      data-wide={isWide}
      aria-labelledby={id}
      onClose={closeDialog}
      onKeyDown={closeAtEscape}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="tool-button" aria-label="Close" onClick={closeDialog}>
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      <div className="modal-body">{children}</div>
    </dialog>
  );
}
