import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { closeDialog } from './open-dialog.ts';
import { useSession } from './session-context.tsx';

export default function DeleteDialog({ messageId }: { messageId: number }) {
  const session = useSession();
  const [isDeleting, setDeleting] = useState(false);
  const confirm = async (): Promise<void> => {
    setDeleting(true);
    await session.actions.delete(messageId);
    closeDialog();
  };
  return (
    <Dialog title="Delete this message?">
      <p>It disappears for everybody, for good.</p>
      <div className="buttons">
        <button type="button" className="danger" disabled={isDeleting} onClick={() => void confirm()}>
          Delete
        </button>
        <button type="button" onClick={closeDialog}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
