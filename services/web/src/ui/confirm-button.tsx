import { useState } from 'react';

interface ConfirmButtonProps {
  /** The action, such as "Deactivate". */
  action: string;
  /** To what; screen readers read it from the start. */
  name: string;
  isDisabled?: boolean;
  onConfirm: () => void;
}

/** Asks once more before something is lost. */
export function ConfirmButton({ action, name, isDisabled = false, onConfirm }: ConfirmButtonProps) {
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
      {action} {name}
    </button>
  ) : (
    <button type="button" className="plain" disabled={isDisabled} onClick={() => setSure(true)}>
      {action}
      <span className="hidden"> {name}</span>
    </button>
  );
}
