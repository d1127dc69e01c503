import { useState } from 'react';
import { t } from '../text/text.ts';
import { DueForm } from './due-form.tsx';
import { Modal } from './modal.tsx';
import { closeAfter, entriesFromNow } from './open-dialog.ts';
import { useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

export default function Remind({ messageId }: { messageId: number }) {
  const session = useSession();
  const [note, setNote] = useState('');
  const task = useTask();
  const remind = (due: number): void =>
    void task.run(
      () =>
        closeAfter(
          () =>
            session.client.createReminder({
              message_id: messageId,
              scheduled_delivery_timestamp: due,
              ...(note.trim() === '' ? {} : { note }),
            }),
          entriesFromNow(),
        ),
      t('saved'),
    );
  return (
    <Modal title={t('remindMeOfThisMessage')}>
      <label className="field">
        <span>{t('note')}</span>
        <input value={note} maxLength={1_000} onChange={(event) => setNote(event.target.value)} />
      </label>
      <DueForm action={t('remindMe')} task={task} onChoose={remind} />
    </Modal>
  );
}
