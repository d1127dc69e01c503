import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { useSession } from './session-context.tsx';

export function DeleteDialog({ messageId, onClose }: { messageId: number; onClose: () => void }) {
  const session = useSession();
  const [isDeleting, setDeleting] = useState(false);
  const confirm = async (): Promise<void> => {
    setDeleting(true);
    await session.actions.delete(messageId);
    onClose();
  };
  return (
    <Dialog title="Delete this message?" onClose={onClose}>
      <p>It disappears for everybody, for good.</p>
      <div className="buttons">
        <button type="button" className="danger" disabled={isDeleting} onClick={() => void confirm()}>
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
