import { useState } from 'react';
import { Phrase } from './phrase.tsx';

interface ConfirmButtonProps {
  /** The action, such as "Deactivate". */
  action: string;
  /** The action with its object, such as "Deactivate Mia"; screen readers read it from the start. */
  full: string;
  isDisabled?: boolean;
  onConfirm: () => void;
}

/** Asks once more before something is lost. */
export function ConfirmButton({ action, full, isDisabled = false, onConfirm }: ConfirmButtonProps) {
  const [isSure, setSure] = useState(false);
  return isSure ? (
    <button
      type="button"
      className="danger"
      disabled={isDisabled}
      onClick={() => {
        setSure(false);
        onConfirm();
      }}
      onBlur={() => setSure(false)}
    >
      {full}
    </button>
  ) : (
    <button type="button" className="plain" disabled={isDisabled} onClick={() => setSure(true)}>
      <Phrase short={action} full={full} />
    </button>
  );
}
