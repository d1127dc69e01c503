import { may } from '../state/permissions.ts';
import type { Place } from '../state/place.ts';
import { t } from '../text/text.ts';
import { type Warnings, warningsOf } from './compose-warnings.ts';
import { LengthNote } from './length-note.tsx';
import { useSelected } from './session-context.tsx';

/** Warnings about a text before it is sent. */
export function useWarnings(text: string, place: Place | undefined): Warnings {
  const characters = useSelected(({ model }) => model.writing.limits.message);
  const mayMentionMany = useSelected(({ model }) => may(model, 'can_mention_many_users_group'));
  return warningsOf(text, place, { characters, mayMentionMany });
}

interface NotesProps {
  problem?: string | undefined;
  /** Whether the text waits for a file. */
  isWaiting: boolean;
  warnings: Warnings;
}

export function Notes({ problem, isWaiting, warnings: { left, mention } }: NotesProps) {
  return (
    <div className="notes" role="status">
      {problem !== undefined && <p className="alarm">{problem}</p>}
      {isWaiting && <p>{t('thisTextWaitsForItsFiles')}</p>}
      {mention !== undefined && <p className="warning">{mention}</p>}
      <LengthNote left={left} />
    </div>
  );
}
