import { targetOf } from '../session/target.ts';
import type { DraftBox } from '../session/uploads.ts';
import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { DueForm } from './due-form.tsx';
import { Modal } from './modal.tsx';
import { titleOf } from './names.ts';
import { closeAfter } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

export default function Schedule({ place, text, draft }: { place: Place; text: string; draft: DraftBox }) {
  const session = useSession();
  const title = useSelected(({ model }) => titleOf(model, place));
  const task = useTask();
  const schedule = (due: number): void =>
    void task.run(() =>
      closeAfter(() =>
        session.writer.emptyAfter(draft, text, () =>
          session.client.createScheduledMessage({
            ...targetOf(place),
            content: text,
            scheduled_delivery_timestamp: due,
          }),
        ),
      ),
    );
  const [before, after] = t('sendTo', { title: '\n' }).split('\n');
  return (
    <Modal title={t('sendLater')}>
      <p>
        {before}
        <bdi>{title}</bdi>
        {after}
      </p>
      <DueForm action={t('schedule')} task={task} onChoose={schedule} />
    </Modal>
  );
}
