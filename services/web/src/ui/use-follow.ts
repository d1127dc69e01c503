import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import type { Row } from './rows.ts';
import { endThreshold, type List } from './use-seen.ts';

/**
 * Whether new rows move the list: from the time at which the end is on screen until the reader moves up. Many rows may be
 * added before the browser reports where the list is. So only an upward move ends this, not a distance from the end.
 */
export type Following = RefObject<boolean>;

/** Moves a list to its end when rows are added, as long as it follows them, `hasNewest`, and `mayMove` returns true. */
export function useFollow(list: List, rows: readonly Row[], hasNewest: boolean, mayMove: () => boolean): Following {
  const following = useRef(true);
  const top = useRef(0);
  const isWhole = useRef(hasNewest);
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
  const last = rows.at(-1)?.key;
  useLayoutEffect(() => {
    look();
    isWhole.current = hasNewest;
    if (hasNewest && last !== undefined && following.current && mayMove()) list.scrollToEnd();
  }, [last, rows.length, hasNewest]);
  return following;
}
