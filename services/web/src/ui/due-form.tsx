import { useState } from 'react';
import { serverNow } from '../session/server-time.ts';
import { t } from '../text/text.ts';
import { choicesAt, dueOf, localInput } from './due.ts';
import { countEntry } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useSession } from './session-context.tsx';
import type { Task } from './use-task.ts';

interface DueFormProps {
  action: string;
  task: Task;
  initial?: Date;
  onChoose: (due: number) => void;
}

/** Chooses a time to come. */
export function DueForm({ action, task, initial, onChoose }: DueFormProps) {
  const now = serverNow(useSession().state);
  const [choices] = useState(() => choicesAt(new Date(now)));
  const [value, setValue] = useState(() => localInput(initial ?? choices[0]?.at ?? new Date(now)));
  const due = dueOf(value, now);
  const choose = (at: Date): void => {
    countEntry();
    setValue(localInput(at));
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (due !== undefined) onChoose(due);
      }}
    >
      <div className="choices">
        {choices.map(({ name, at }) => (
          <button key={name} type="button" className="plain" onClick={() => choose(at)}>
            {name}
          </button>
        ))}
      </div>
      <label className="field">
        <span>{t('dateAndTime')}</span>
        <input type="datetime-local" required value={value} onChange={(event) => setValue(event.target.value)} />
      </label>
      {due === undefined && <p className="alarm">{t('chooseATimeToCome')}</p>}
      <button type="submit" className="primary" disabled={due === undefined || task.isBusy}>
        {action}
      </button>
      <Outcome task={task} />
    </form>
  );
}
