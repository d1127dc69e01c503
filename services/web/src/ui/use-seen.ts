import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect } from 'react';
import type { Narrow } from '../state/place.ts';
import { marksRead } from '../state/scroll-policy.ts';
import type { Row } from './rows.ts';
import { useSelected, useSession } from './session-context.tsx';

export type List = Virtualizer<HTMLDivElement, Element>;

/**
 * Pixels of the list below the visible part. From the sizes that the list knows: asking the element would make the browser
 * arrange the page at once.
 */
export const belowOf = (list: List): number =>
  list.getTotalSize() - (list.scrollOffset ?? 0) - (list.scrollRect?.height ?? 0);

/** Marks visible messages as read while the window has the focus, where the reader wants so. */
export function useSeen(list: List, rows: readonly Row[], narrow: Narrow, scroller: HTMLDivElement | null): void {
  const session = useSession();
  const isMarking = useSelected(({ model }) => marksRead(narrow, model.writing.settings));
  const offset = list.scrollOffset ?? 0;
  useEffect(() => {
    const look = (): void => {
      if (!scroller || document.visibilityState !== 'visible') return;
      const end = offset + (list.scrollRect?.height ?? 0);
      const visible = list.getVirtualItems().filter((item) => item.start < end && item.end > offset);
      const top = visible.map(({ index }) => rows[index]?.message?.id).find((id) => id !== undefined);
      if (session.shown) session.shown.topId = belowOf(list) <= 80 ? undefined : top;
      if (!document.hasFocus() || !isMarking) return;
      const ids = visible.flatMap(({ index, end: bottom }) => {
        const message = rows[index]?.message;
        return message && bottom <= end + 40 && !message.flags.includes('read') ? [message.id] : [];
      });
      session.reading.seen(ids);
    };
    look();
    addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
    };
  }, [session, list, rows, isMarking, scroller, offset]);
}
