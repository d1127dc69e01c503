import { placeOf } from '../state/place.ts';
import { t } from '../text/text.ts';
import { Day, PlaceLine } from './message-row.tsx';
import type { Row } from './rows.ts';
import { useDirectory } from './session-context.tsx';

interface HiddenRowProps {
  row: Row;
  hasPlaces: boolean;
  isCurrent: boolean;
  onFocus: (id: number) => void;
  onReveal: () => void;
}

/** Stands for messages of muted people, until the reader wants to see them. */
export function HiddenRow({ row, hasPlaces, isCurrent, onFocus, onReveal }: HiddenRowProps) {
  const { ownId } = useDirectory();
  const { message, hidden } = row;
  if (!message) return null;
  const text = t('hiddenMessages', { count: hidden.length });
  return (
    <article
      aria-label={text}
      data-message={message.id}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => onFocus(message.id)}
    >
      <Day row={row} />
      {hasPlaces && row.isNewPlace && <PlaceLine place={placeOf(message, ownId)} />}
      <p className="hidden-messages">
        {text}
        <button type="button" tabIndex={isCurrent ? 0 : -1} onClick={onReveal}>
          {t('show')}
        </button>
      </p>
    </article>
  );
}
