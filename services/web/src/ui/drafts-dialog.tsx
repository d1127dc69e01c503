import { useLayoutEffect, useRef, useState } from 'react';
import { editKey } from '../session/unsaved-edits.ts';
import type { Reminder, Scheduled } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { CardHead } from './card-head.tsx';
import { charactersLeft } from './compose-warnings.ts';
import { shortTime } from './dates.ts';
import { DraftCard } from './draft-card.tsx';
import { DueForm } from './due-form.tsx';
import { LengthNote } from './length-note.tsx';
import { Modal } from './modal.tsx';
import { titleOf } from './names.ts';
import { entriesFromNow } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useDirectory, useSelected, useSession } from './session-context.tsx';
import { type Task, useTask } from './use-task.ts';

/** Drafts, scheduled messages and reminders. */
export default function Drafts({ part }: { part: 'scheduled' | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (part === 'scheduled') heading.current?.scrollIntoView();
  }, [part]);
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
      <h3 ref={heading}>{t('scheduledMessages')}</h3>
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

function ScheduledCard({ scheduled }: { scheduled: Scheduled }) {
  const { id, place, content, due, hasFailed } = scheduled;
  const { client, edits } = useSession();
  const task = useTask();
  const title = titleOf(useDirectory(), place);
  const [open, setOpen] = useState<'text' | 'time' | undefined>(() =>
    edits.get(editKey.scheduled(id)) ? 'text' : undefined,
  );
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
      <CardHead title={title} detail={shortTime(due)} />
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
          scheduled={scheduled}
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
  scheduled: Scheduled;
  task: Task;
  onSave: (text: string) => Promise<unknown>;
  /** Called when the edit was cancelled, or saved and no other text was typed meanwhile. */
  onDone: () => void;
}

/** Its text is kept while the form is closed, until it is saved or cancelled. */
function TextForm({ scheduled: { id, place, content }, task, onSave, onDone }: TextFormProps) {
  const { edits } = useSession();
  const key = editKey.scheduled(id);
  const [text, setText] = useState(() => edits.get(key)?.text ?? content);
  const box = useRef<HTMLTextAreaElement>(null);
  const limit = useSelected(({ model }) => model.writing.limits.message);
  const left = charactersLeft(text, limit);
  const change = (next: string): void => {
    if (next === content) edits.drop(key);
    else edits.keep(key, { text: next, base: content, isOutdated: false, place });
    setText(next);
  };
  const save = async (): Promise<void> => {
    await onSave(text);
    if (edits.get(key)?.text === text) edits.drop(key);
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
        onChange={(event) => change(event.target.value)}
      />
      <div className="notes" role="status">
        <LengthNote left={left} />
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={task.isBusy || text.trim() === '' || left < 0}>
          {t('save')}
        </button>
        <button
          type="button"
          className="plain"
          onClick={() => {
            edits.drop(key);
            onDone();
          }}
        >
          {t('cancel')}
        </button>
      </div>
      <Outcome task={task} />
    </form>
  );
}

function ReminderCard({ reminder: { id, content, due } }: { reminder: Reminder }) {
  const { client } = useSession();
  const task = useTask();
  return (
    <li>
      <CardHead detail={shortTime(due)} />
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
