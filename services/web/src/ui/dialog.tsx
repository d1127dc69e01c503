import { type ReactNode, useId } from 'react';
import { Notice } from './notice.tsx';
import { closeDialog } from './open-dialog.ts';
import { useClickBeside } from './use-click-beside.ts';
import { useDialogElement } from './use-dialog-element.ts';

interface DialogProps {
  title: string;
  /** Leaves the title to screen readers. */
  isTitleHidden?: boolean;
  children: ReactNode;
}

/** A dialog that a click beside it closes, too. */
export function Dialog({ title, isTitleHidden = false, children }: DialogProps) {
  const element = useDialogElement();
  const titleId = useId();
  return (
    <dialog
      {...element}
      className="dialog"
      aria-labelledby={titleId}
      onKeyDown={element.onKeyDown}
      {...useClickBeside(closeDialog)}
    >
      <div className="dialog-body">
        <h2 id={titleId} className={isTitleHidden ? 'hidden' : undefined}>
          {title}
        </h2>
        {children}
      </div>
      <Notice />
    </dialog>
  );
}
