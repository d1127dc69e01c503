import { type ComponentProps, useRef, useState } from 'react';
import { type Task, useTask } from './use-task.ts';

interface NewForm {
  isOpen: boolean;
  /** Attributes of the button that opens and closes the form. */
  button: ComponentProps<'button'>;
  /** The result of the last creation. It is shown outside the form, which closes. */
  task: Task;
  /** Closes the form after a creation. The button takes the focus, unless the reader works elsewhere. */
  close: (form: HTMLFormElement) => void;
}

/** A form that a button opens, and that closes when it has created something. */
export function useNewForm(): NewForm {
  const [isOpen, setOpen] = useState(false);
  const ref = useRef<HTMLButtonElement>(null);
  const task = useTask();
  const close = (form: HTMLFormElement): void => {
    const { activeElement, body } = document;
    // The browser takes the focus from a button that is disabled.
    if (activeElement === null || activeElement === body || form.contains(activeElement)) ref.current?.focus();
    setOpen(false);
  };
  const onClick = () => setOpen(!isOpen);
  return {
    isOpen,
    button: { type: 'button', className: 'primary', ref, 'aria-expanded': isOpen, onClick },
    task,
    close,
  };
}
