import { useState } from 'react';
import { t } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { focusList, focusMessage, neighbourOf } from './editing.ts';
import { closeAfter, closeDialog } from './open-dialog.ts';
import { useSession } from './session-context.tsx';

export default function DeleteDialog({ messageId }: { messageId: number }) {
  const session = useSession();
  const [isDeleting, setDeleting] = useState(false);
  const confirm = async (): Promise<void> => {
    setDeleting(true);
    const neighbour = neighbourOf(messageId);
    const isDeleted = await closeAfter(() => session.actions.delete(messageId));
    // The browser gives the focus back to the deleted message first.
    if (isDeleted) setTimeout(() => focusMessage(neighbour) || focusList());
  };
  return (
    <Dialog title={t('deleteThisMessage')}>
      <p>{t('itDisappearsForEverybodyForGood')}</p>
      <div className="buttons">
        <button type="button" className="danger" disabled={isDeleting} onClick={() => void confirm()}>
          {t('delete')}
        </button>
        <button type="button" onClick={closeDialog}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  );
}
