import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { keyOf } from '../state/place.ts';
import type { Draft } from '../state/writing-snapshot.ts';
import { t } from '../text/text.ts';
import { CardHead } from './card-head.tsx';
import { copy } from './clipboard.ts';
import { shortTime } from './dates.ts';
import { linkTo } from './links.ts';
import { titleOf } from './names.ts';
import { closeDialog } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { useDirectory, useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

/** Whether a text is longer than the lines that a card shows at first, which 140 characters fill on narrow screens. */
const isLong = (text: string): boolean => text.split('\n').length > 4 || text.length > 140;

export function DraftCard({ draft: { id, place, content, timestamp } }: { draft: Draft }) {
  const session = useSession();
  const navigate = useNavigate();
  const task = useTask();
  const directory = useDirectory();
  const title = place ? titleOf(directory, place) : t('notAddressed');
  const isArchived = useSelected(({ model }) => place?.kind === 'topic' && model.archived.has(place.channelId));
  const [isWhole, setWhole] = useState(false);
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
      <CardHead title={title} detail={shortTime(timestamp)} />
      <p className={isWhole ? 'excerpt whole' : 'excerpt'} dir="auto">
        {content}
      </p>
      <p className="card-tools">
        {place && !isArchived && (
          <button type="button" className="plain" onClick={open}>
            {t('continueWriting')}
          </button>
        )}
        {isLong(content) && (
          <button type="button" className="plain" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {t('showTheWholeText')}
          </button>
        )}
        <button type="button" className="plain" onClick={() => void task.run(() => copy(content), t('copied'))}>
          {t('copy')}
        </button>
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
