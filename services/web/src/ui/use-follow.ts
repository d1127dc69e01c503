import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import type { Row } from './rows.ts';
import { endThreshold, type List } from './use-seen.ts';

interface Follow {
  /**
   * Whether new rows move the list: from the time at which the end is on screen until the reader moves up. Many rows may be
   * added before the browser reports where the list is. So only an upward move ends this, not a distance from the end.
   */
  following: RefObject<boolean>;
  /** To be called when the list has moved, or not moved, without a scroll event. */
  look: () => void;
}

/** Moves a list to its end when messages are added there, as long as it follows them, `hasNewest`, and `mayMove` allows it. */
export function useFollow(list: List, rows: readonly Row[], hasNewest: boolean, mayMove: () => boolean): Follow {
  const following = useRef(true);
  const top = useRef(0);
  const isWhole = useRef(hasNewest);
  const drawn = useRef('');
  const { scrollElement } = list;
  const look = (): void => {
    if (!scrollElement) return;
    const { scrollTop, scrollHeight, clientHeight } = scrollElement;
    if (scrollHeight - clientHeight - scrollTop <= endThreshold) following.current = isWhole.current;
    else if (scrollTop < top.current) following.current = false;
    top.current = scrollTop;
  };
  // It uses only refs.
  useEffect(() => {
    scrollElement?.addEventListener('scroll', look, { passive: true });
    return () => scrollElement?.removeEventListener('scroll', look);
  }, [scrollElement]);
  // Messages that are being sent stay below the stored ones. Hidden messages that are revealed add rows above the end.
  const end = `${rows.at(-1)?.key} ${rows.findLast(({ outgoing }) => !outgoing)?.key}`;
  useLayoutEffect(() => {
    const isSameEnd = drawn.current === end;
    drawn.current = end;
    isWhole.current = hasNewest;
    if (isSameEnd) return look();
    if (hasNewest && rows.length > 0 && following.current && mayMove()) list.scrollToEnd();
    // Rows that were removed above may have moved the list up, too.
    top.current = scrollElement?.scrollTop ?? 0;
  }, [end, hasNewest]);
  return { following, look };
}
