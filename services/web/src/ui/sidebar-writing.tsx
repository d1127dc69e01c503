import { numberText, t } from '../text/text.ts';
import { openDialog } from './open-dialog.ts';
import { useSelected } from './session-context.tsx';

/** Links to drafts and scheduled messages, with their numbers. */
export function WritingEntries() {
  const drafts = useSelected(({ model }) => model.writing.drafts.size);
  const scheduled = useSelected(({ model }) => model.writing.scheduled.size);
  return (
    <>
      <DialogEntry label={t('drafts')} count={drafts} onOpen={() => openDialog({ name: 'drafts' })} />
      {scheduled > 0 && (
        <DialogEntry
          label={t('scheduledMessages')}
          count={scheduled}
          onOpen={() => openDialog({ name: 'drafts', part: 'scheduled' })}
        />
      )}
    </>
  );
}

function DialogEntry({ label, count, onOpen }: { label: string; count: number; onOpen: () => void }) {
  return (
    <li>
      <button type="button" className="entry" aria-haspopup="dialog" onClick={onOpen}>
        <span className="label">{label}</span>{' '}
        {count > 0 && <span className="count faint-count">{numberText(count)}</span>}
      </button>
    </li>
  );
}
