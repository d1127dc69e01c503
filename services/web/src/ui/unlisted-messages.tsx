import { useEffect, useMemo, useRef, useState } from 'react';
import { holds, type Narrow, placeOf } from '../state/place.ts';
import { t } from '../text/text.ts';
import { useReading } from './editing.ts';
import { isPlace } from './links.ts';
import { MessageRow, OutgoingRow } from './message-row.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useRows } from './use-rows.ts';

/** About the height of a message. */
const stepPx = 64;

interface UnlistedMessagesProps {
  narrow: Narrow;
  /** The reason why the list could not be loaded. */
  problem: string | undefined;
  onRetry: () => void;
}

/** Replaces a list that is not loaded. It shows the state of messages that the writer sends meanwhile. */
export function UnlistedMessages({ narrow, problem, onRetry }: UnlistedMessagesProps) {
  const session = useSession();
  const ids = useSentSince(narrow);
  const { rows } = useRows({ narrow, ids, hasNewest: true });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [rows.length]);
  useEffect(() => {
    // The server answers by now.
    if (ids.length > 0 && problem !== undefined) onRetry();
  }, [ids.length]);
  useReading({
    current: () => undefined,
    move: (step) => box.current?.scrollBy(0, step * stepPx),
    end: () => void session.openNewest(narrow),
  });
  // A region that scrolls must be reachable with the keyboard.
  const region = rows.length > 0 ? { role: 'region', tabIndex: 0, 'aria-label': t('messages') } : {};
  return (
    <div className="unlisted" ref={box} {...region}>
      <div className="empty">
        {problem === undefined ? (
          <p role="status">{t('loadingMessages')}</p>
        ) : (
          <>
            <p role="alert">{t('messagesNotLoaded', { problem })}</p>
            <button type="button" onClick={onRetry}>
              {t('tryAgain')}
            </button>
          </>
        )}
      </div>
      {rows.map((row) =>
        row.outgoing ? (
          <OutgoingRow key={row.key} row={row} outgoing={row.outgoing} />
        ) : (
          <MessageRow
            key={row.key}
            row={row}
            hasPlaces={!isPlace(narrow)}
            match={undefined}
            isCurrent
            isNear={false}
            onFocus={() => undefined}
          />
        ),
      )}
    </div>
  );
}

/** The messages that the writer has sent here since the page was opened. */
function useSentSince(narrow: Narrow): readonly number[] {
  const messages = useSelected((state) => state.messages);
  const ownId = useSelected(({ model }) => model.ownId);
  const [before] = useState(messages);
  return useMemo(() => {
    const sent = [...messages.values()].filter((message) => {
      if (message.sender_id !== ownId || before.has(message.id)) return false;
      return holds(narrow, { place: placeOf(message, ownId), isMuted: false, flags: message.flags });
    });
    return sent.map(({ id }) => id).sort((a, b) => a - b);
  }, [messages, before, ownId, narrow]);
}
