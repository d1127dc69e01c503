import type { Place } from '../state/place.ts';
import { DueForm } from './due-form.tsx';
import { Modal } from './modal.tsx';
import { titleOf } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

export default function Schedule({ place, text, onDone }: { place: Place; text: string; onDone: () => void }) {
  const session = useSession();
  const title = useSelected(({ model }) => titleOf(model, place));
  const task = useTask();
  const schedule = (due: number): void =>
    void task.run(async () => {
      const target =
        place.kind === 'topic'
          ? { type: 'channel' as const, to: place.channelId, topic: place.topic }
          : { type: 'direct' as const, to: [...place.userIds] };
      await session.client.createScheduledMessage({ ...target, content: text, scheduled_delivery_timestamp: due });
      onDone();
    });
  return (
    <Modal title="Send later">
      <p>
        To <bdi>{title}</bdi>
      </p>
      <DueForm action="Schedule" task={task} onChoose={schedule} />
    </Modal>
  );
}
