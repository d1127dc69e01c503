import { t } from '../text/text.ts';
import './modal.css';
import { type ReactNode, useId } from 'react';
import { Notice } from './notice.tsx';
import { closeDialog } from './open-dialog.ts';
import { useDialogElement } from './use-dialog-element.ts';

/** A dialog with a title and a button to close it. */
export function Modal({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  const element = useDialogElement();
  const id = useId();
  return (
    <dialog {...element} className="modal" data-wide={isWide} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="tool-button" aria-label={t('close')} onClick={closeDialog}>
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      <div className="modal-body">{children}</div>
      <Notice />
    </dialog>
  );
}
