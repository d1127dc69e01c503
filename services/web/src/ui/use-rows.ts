import { useMemo, useState } from 'react';
import { holds } from '../state/place.ts';
import { type Listed, rowsOf } from './rows.ts';
import { useSelected } from './session-context.tsx';

/** The rows of a list, and the messages on their way that belong to it. */
export function useRows(view: Listed['view']) {
  const { narrow } = view;
  const messages = useSelected((state) => state.messages);
  const outbox = useSelected((state) => state.outbox);
  const ownId = useSelected((state) => state.model.ownId);
  const clockSkew = useSelected((state) => state.clockSkew);
  const muted = useSelected((state) => state.model.muted);
  const [revealed, setRevealed] = useState<ReadonlySet<number>>(new Set());
  const own = useMemo(
    () => outbox.filter(({ place }) => holds(narrow, { place, isMuted: false, flags: [] })),
    [outbox, narrow],
  );
  const rows = useMemo(
    () => rowsOf({ view, messages, outbox: own, ownId, clockSkew, muted, revealed }),
    [view, messages, own, ownId, clockSkew, muted, revealed],
  );
  const reveal = (ids: readonly number[]): void => setRevealed(new Set([...revealed, ...ids]));
  return { own, rows, reveal };
}
