import { useEffect } from 'react';
import type { Session } from '../session/session.ts';
import { holds, keyOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import { t } from '../text/text.ts';
import { titleOf } from './names.ts';

/** Notifies the writer that the server refused a message whose row is not on screen. */
export function useRefusals(session: Session): void {
  useEffect(() => {
    let before = session.state.outbox;
    return session.subscribe(() => {
      const { outbox, model } = session.state;
      if (outbox === before) return;
      const waiting = new Set(before.flatMap(({ id, problem }) => (problem === undefined ? [id] : [])));
      before = outbox;
      for (const { id, place, problem } of outbox)
        if (problem !== undefined && waiting.has(id) && !isOnScreen(session, place))
          session.notify(t('yourMessageWasNotSent', { title: titleOf(model, place), problem }));
    });
  }, [session]);
}

/** Messages that were not sent stand at the end of the lists of their place, also of one that is not loaded. */
function isOnScreen({ shown, state }: Session, place: Outgoing['place']): boolean {
  if (!shown || shown.narrow.kind === 'all' || !holds(shown.narrow, { place, isMuted: false, flags: [] })) return false;
  const view = state.views.get(keyOf(shown.narrow));
  return view === undefined || (view.hasNewest && shown.topId === undefined);
}
