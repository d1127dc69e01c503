import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { newestId } from '../session/message-pages.ts';
import { covers } from '../state/bounds.ts';
import { keyOf } from '../state/place.ts';
import type { View } from '../state/views.ts';
import { type Entry, keepPlace, placeOnScreen, type ReaderPlace, rowOfPlace } from './reader-places.ts';
import { isRowOf, type Row } from './rows.ts';
import { useSession } from './session-context.tsx';
import { useFollow } from './use-follow.ts';
import type { List } from './use-seen.ts';

/** Number of frames without movement after which the list counts as settled. */
const stableFrames = 4;
/** Number of frames after which the list is scrolled again: on a slow machine it gives up before it has arrived. */
const patientFrames = 60;
/** Time after which only the reader moves the list. */
const longestMs = 20_000;
const readerScrolls = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

/** Calls a function, which uses only refs, when the reader may be moving a list by the pointer or the keys. */
function useReaderScrolls(element: Element | null, onScroll: () => void): void {
  useEffect(() => {
    for (const name of readerScrolls) element?.addEventListener(name, onScroll, { passive: true });
    return () => {
      for (const name of readerScrolls) element?.removeEventListener(name, onScroll);
    };
  }, [element]);
}

interface Target {
  /** Returns the scroll offset that the list will have, in pixels. */
  offset: () => number;
  go: () => void;
  isThere: () => boolean;
  /** Number of frames after which the list is scrolled again. */
  frames: number;
  isEnd?: true;
}

interface Start {
  /** The message that a link named. */
  near: number | undefined;
  entry: Entry;
}

/**
 * Shows a replaced view at its anchor: the place to which the reader goes back, the first unread message, the message that
 * was on top, or the end. Returns whether the list has arrived there. `stay` gives up the anchor, because the reader moves
 * the list, and `goToEnd` moves the list to the end of the loaded messages.
 */
export function useAnchor(list: List, rows: readonly Row[], view: View, { near, entry }: Start) {
  const session = useSession();
  const { anchor, version, narrow } = view;
  const wanted = `${keyOf(narrow)} ${version}`;
  const shown = useRef('');
  /** Undefined once the list has arrived, or the reader moves it. */
  const target = useRef<Target>(undefined);
  const [arrivedAt, setArrivedAt] = useState('');
  const isArrived = arrivedAt === wanted;
  const place = usePlace(list, rows, entry, isArrived);
  const stay = (): void => {
    place.current = undefined;
    target.current = undefined;
    if (session.shown) session.shown.isMoved = true;
  };
  useReaderScrolls(list.scrollElement, stay);
  const isPlaced = (): boolean => shown.current === wanted && (target.current?.isEnd ?? true);
  const { following, look: lookAtEnd } = useFollow(list, rows, view.hasNewest, isPlaced);
  const isEmptyWhole = rows.length === 0 && view.hasOldest && view.hasNewest;
  useLayoutEffect(() => {
    if (shown.current === wanted) return;
    if (isEmptyWhole) {
      // The reader has seen everything, so the list follows messages from now on.
      shown.current = wanted;
      setArrivedAt(wanted);
    }
    if (rows.length === 0) return;
    const isFirst = shown.current === '';
    const isByTime = narrow.kind === 'search' || narrow.kind === 'starred';
    const { topId, above } = session.shown ?? {};
    const isEndWanted = topId === newestId;
    const left = place.current;
    shown.current = wanted;
    if (left && (isFirst ? covers(view, left.id) : anchor === left.id)) target.current = placeTarget(list, rows, left);
    else if (!isFirst && topId !== undefined && anchor === topId && above !== undefined) {
      // Once only: the rows on screen are measured, and the reader may be scrolling.
      const top = placeTarget(list, rows, { id: topId, above });
      if (!top.isThere()) top.go();
      target.current = undefined;
      return;
    } else {
      const index =
        isFirst && near === undefined && !isByTime && !isEndWanted
          ? rows.findIndex(({ message }) => message !== undefined && !message.flags.includes('read'))
          : rows.findIndex((row) => isRowOf(row, anchor));
      target.current = rowTarget(list, index, anchor === near ? 'center' : 'start');
    }
    following.current = target.current.isEnd ?? false;
    target.current.go();
  });
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isArrived || isEmpty) return;
    const until = performance.now() + longestMs;
    let [stable, waited] = [0, 0];
    let frame = requestAnimationFrame(function look() {
      const { current } = target;
      const isThere = current?.isThere() ?? false;
      stable = isThere ? stable + 1 : 0;
      // Even without a target, the list arrives in a frame: scroll events precede frames, so its offset is up to date.
      if (!current || stable >= stableFrames || performance.now() > until) {
        target.current = undefined;
        lookAtEnd();
        setArrivedAt(wanted);
        return;
      }
      if (!isThere && ++waited % current.frames === 0) current.go();
      frame = requestAnimationFrame(look);
    });
    return () => cancelAnimationFrame(frame);
  }, [list, wanted, isArrived, isEmpty]);
  const goToEnd = (): void => {
    place.current = undefined;
    following.current = true;
    target.current = endTarget(list);
    target.current.go();
    setArrivedAt('');
  };
  /** The scroll offset. It is read from the target or the element, because the list updates its own offset later. */
  const offset = (): number | undefined => target.current?.offset() ?? list.scrollElement?.scrollTop;
  return { isArrived, offset, stay, goToEnd };
}

/** The place to which the reader has gone back, until they move the list. It is kept again when they leave the list. */
function usePlace(list: List, rows: readonly Row[], entry: Entry, isArrived: boolean) {
  const place = useRef<ReaderPlace>(undefined);
  const drawn = useRef({ element: list.scrollElement, rows, isArrived });
  useLayoutEffect(() => {
    drawn.current = { element: list.scrollElement, rows, isArrived };
  });
  useLayoutEffect(() => {
    place.current = entry.place;
    return () => {
      const { element, rows: left, isArrived: isKnown } = drawn.current;
      const now = isKnown && element ? placeOnScreen(element, left) : undefined;
      if (now) keepPlace(entry, now);
    };
  }, [entry]);
  return place;
}

const endTarget = (list: List): Target => ({
  offset: () => list.getTotalSize(),
  go: () => list.scrollToEnd(),
  isThere: () => list.isAtEnd(1),
  frames: patientFrames,
  isEnd: true,
});

function rowTarget(list: List, index: number, align: 'center' | 'start'): Target {
  if (index < 0) return endTarget(list);
  const offset = (): number => list.getOffsetForIndex(index, align)?.[0] ?? 0;
  return {
    offset,
    go: () => list.scrollToIndex(index, { align }),
    isThere: () => Math.abs(offset() - (list.scrollOffset ?? 0)) <= 1,
    frames: patientFrames,
  };
}

function placeTarget(list: List, rows: readonly Row[], place: ReaderPlace): Target {
  const { index, above } = rowOfPlace(rows, place);
  const row = rows[index];
  if (!row) return endTarget(list);
  const size = (): number | undefined => list.itemSizeCache.get(row.key);
  const offset = (): number => {
    const [start] = list.getOffsetForIndex(index, 'start') ?? [0];
    // The message may have become shorter.
    return list.getOffsetForAlignment(start + Math.min(above, (size() ?? 1) - 1), 'start');
  };
  return {
    offset,
    go: () => list.scrollToOffset(offset()),
    isThere: () => size() !== undefined && Math.abs(offset() - (list.scrollOffset ?? 0)) <= 1,
    // The list does not correct this by itself when it measures rows.
    frames: 1,
  };
}
