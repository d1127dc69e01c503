import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect } from 'react';
import type { Narrow } from '../state/place.ts';
import { marksRead } from '../state/scroll-policy.ts';
import type { Row } from './rows.ts';
import { useSelected, useSession } from './session-context.tsx';

export type List = Virtualizer<HTMLDivElement, Element>;

/** Distance from the end in pixels at which the reader still counts as being at the end. */
export const endThreshold = 80;

/**
 * Number of pixels of the list below the visible part. Computed from sizes that the list has measured, because reading
 * them from the element would force the browser to compute the layout.
 */
export const belowOf = (list: List, offset = list.scrollOffset ?? 0): number =>
  list.getTotalSize() - offset - (list.scrollRect?.height ?? 0);

/** The row at the top of the visible part; -1 at the end of the list. */
export const topIndexOf = (list: List, offset = list.scrollOffset ?? 0): number =>
  belowOf(list, offset) <= endThreshold ? -1 : (list.getVirtualItemForOffset(offset)?.index ?? -1);

/**
 * Marks visible messages as read while the window has the focus, if the settings of the reader permit it. Before the list
 * `isAnchored`, its offset may be outdated.
 */
export function useSeen(list: List, rows: readonly Row[], narrow: Narrow, isAnchored: boolean): void {
  const session = useSession();
  const isMarking = useSelected(({ model }) => marksRead(narrow, model.writing.settings));
  const offset = list.scrollOffset ?? 0;
  const height = list.scrollRect?.height ?? 0;
  useEffect(() => {
    const look = (): void => {
      if (!isAnchored || document.visibilityState !== 'visible') return;
      const { shown } = session;
      if (shown) {
        const index = topIndexOf(list, offset);
        shown.topId = rows[index]?.message?.id;
        shown.above = offset - (list.getOffsetForIndex(index, 'start')?.[0] ?? offset);
      }
      if (!document.hasFocus() || !isMarking) return;
      const end = offset + height;
      const visible = list.getVirtualItems().filter((item) => item.start < end && item.end > offset);
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
  }, [session, list, rows, isMarking, isAnchored, offset, height]);
}
