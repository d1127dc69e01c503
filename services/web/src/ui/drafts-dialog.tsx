import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { keyOf } from '../state/place.ts';
import type { Draft, Reminder, Scheduled } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { shortTime } from './dates.ts';
import { DueForm } from './due-form.tsx';
import { linkTo } from './links.ts';
import { Modal } from './modal.tsx';
import { titleOf } from './names.ts';
import { closeDialog, entriesFromNow } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

/** Drafts, scheduled messages and reminders. */
export default function Drafts() {
  const { drafts, scheduled, reminders } = useSelected(({ model }) => model.writing);
  const byDue = (a: { due: number }, b: { due: number }): number => a.due - b.due;
  return (
    <Modal title={t('draftsAndScheduledMessages')} isWide>
      <h3>{t('drafts')}</h3>
      {drafts.size === 0 && <p className="faint">{t('thereAreNoDrafts')}</p>}
      <ul className="cards">
        {[...drafts.values()]
          .sort((a, b) => b.timestamp - a.timestamp)
          .map((one) => (
            <DraftCard key={one.id} draft={one} />
          ))}
      </ul>
      <h3>{t('scheduledMessages')}</h3>
      {scheduled.size === 0 && <p className="faint">{t('nothingIsScheduled')}</p>}
      <ul className="cards">
        {[...scheduled.values()].sort(byDue).map((one) => (
          <ScheduledCard key={one.id} scheduled={one} />
        ))}
      </ul>
      <h3>{t('reminders')}</h3>
      {reminders.size === 0 && <p className="faint">{t('thereAreNoReminders')}</p>}
      <ul className="cards">
        {[...reminders.values()].sort(byDue).map((one) => (
          <ReminderCard key={one.id} reminder={one} />
        ))}
      </ul>
    </Modal>
  );
}

function DraftCard({ draft: { id, place, content, timestamp } }: { draft: Draft }) {
  const session = useSession();
  const navigate = useNavigate();
  const task = useTask();
  const title = useSelected(({ model }) => (place ? titleOf(model, place) : t('notAddressed')));
  const open = (): void => {
    if (!place) return;
    void task.run(async () => {
      if (!session.writer.choose(keyOf(place), id)) throw new Error(t('theTextThereIsNotSaved'));
      closeDialog();
      await navigate(linkTo(place));
    });
  };
  return (
    <li>
      <p className="card-head">
        <bdi>{title}</bdi>
        <span className="faint">{shortTime(timestamp)}</span>
      </p>
      <p className="excerpt" dir="auto">
        {content}
      </p>
      <p className="card-tools">
        {place && (
          <button type="button" className="plain" onClick={open}>
            {t('continueWriting')}
          </button>
        )}
        <button
          type="button"
          className="plain"
          disabled={task.isBusy}
          onClick={() => void task.run(() => session.writer.deleteDraft(id))}
        >
          {t('delete')}
        </button>
      </p>
      <Outcome task={task} />
    </li>
  );
}

function ScheduledCard({ scheduled }: { scheduled: Scheduled }) {
  const { id, place, content, due, hasFailed } = scheduled;
  const { client } = useSession();
  const task = useTask();
  const title = useSelected(({ model }) => titleOf(model, place));
  const [open, setOpen] = useState<'text' | 'time'>();
  const toggle = (part: 'text' | 'time'): void => setOpen(open === part ? undefined : part);
  const close = (part: 'text' | 'time'): void => setOpen((now) => (now === part ? undefined : now));
  const setDue = (next: number): void => {
    const hasNewer = entriesFromNow();
    void task.run(async () => {
      await client.editScheduledMessage({ scheduled_message_id: id, scheduled_delivery_timestamp: next });
      if (!hasNewer()) close('time');
    });
  };
  return (
    <li>
      <p className="card-head">
        <bdi>{title}</bdi>
        <span className="faint">{shortTime(due)}</span>
      </p>
      {hasFailed && <p className="alarm">{t('itCouldNotBeSentWhenIt')}</p>}
      <p className="excerpt" dir="auto">
        {content}
      </p>
      <p className="card-tools">
        <button type="button" className="plain" aria-expanded={open === 'text'} onClick={() => toggle('text')}>
          {t('edit')}
        </button>
        <button type="button" className="plain" aria-expanded={open === 'time'} onClick={() => toggle('time')}>
          {t('changeTheTime')}
        </button>
        <button
          type="button"
          className="plain"
          disabled={task.isBusy}
          onClick={() => void task.run(() => client.deleteScheduledMessage({ scheduled_message_id: id }))}
        >
          {t('delete')}
        </button>
      </p>
      {open === 'text' && (
        <TextForm
          initial={content}
          task={task}
          onSave={(text) => client.editScheduledMessage({ scheduled_message_id: id, content: text })}
          onDone={() => close('text')}
        />
      )}
      {open === 'time' && (
        <DueForm action={t('saveTheTime')} task={task} initial={new Date(due * 1_000)} onChoose={setDue} />
      )}
      {open === undefined && <Outcome task={task} />}
    </li>
  );
}

interface TextFormProps {
  initial: string;
  task: Task;
  onSave: (text: string) => Promise<unknown>;
  /** Called when the text was saved, unless another one was typed meanwhile. */
  onDone: () => void;
}

function TextForm({ initial, task, onSave, onDone }: TextFormProps) {
  const [text, setText] = useState(initial);
  const box = useRef<HTMLTextAreaElement>(null);
  const save = async (): Promise<void> => {
    await onSave(text);
    if (box.current?.value === text) onDone();
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void task.run(save);
      }}
    >
      <textarea
        ref={box}
        aria-label={t('text')}
        rows={4}
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="primary" disabled={task.isBusy || text.trim() === ''}>
        {t('save')}
      </button>
      <Outcome task={task} />
    </form>
  );
}

function ReminderCard({ reminder: { id, content, due } }: { reminder: Reminder }) {
  const { client } = useSession();
  const task = useTask();
  return (
    <li>
      <p className="card-head">
        <span className="faint">{shortTime(due)}</span>
      </p>
      <p className="excerpt" dir="auto">
        {content}
      </p>
      <p className="card-tools">
        <button
          type="button"
          className="plain"
          disabled={task.isBusy}
          onClick={() => void task.run(() => client.deleteReminder({ reminder_id: id }))}
        >
          {t('delete')}
        </button>
      </p>
      <Outcome task={task} />
    </li>
  );
}
