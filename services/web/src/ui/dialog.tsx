import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { closeAtEscape, closeDialog } from './open-dialog.ts';

interface DialogProps {
  title: string;
  /** Leaves the title to screen readers. */
  isTitleHidden?: boolean;
  children: ReactNode;
}

/** The browser keeps the focus inside, closes at Escape, and gives the focus back. */
export function Dialog({ title, isTitleHidden = false, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // The browser gives the focus back only if the dialog is closed while it is in the page.
  useLayoutEffect(() => {
    const dialog = box.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      className="dialog"
      aria-labelledby={titleId}
      onClose={closeDialog}
      onKeyDown={closeAtEscape}
      onClick={(event) => event.target === box.current && box.current.close()}
    >
      <div className="dialog-body">
        <h2 id={titleId} className={isTitleHidden ? 'hidden' : undefined}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}
