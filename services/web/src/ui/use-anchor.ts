import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { newestId } from '../session/message-pages.ts';
import { covers } from '../state/bounds.ts';
import { keyOf } from '../state/place.ts';
import type { View } from '../state/views.ts';
import { type Entry, keepPlace, placeOnScreen, type ReaderPlace, rowOfPlace } from './reader-places.ts';
import { isRowOf, type Row } from './rows.ts';
import { useSession } from './session-context.tsx';
import type { List } from './use-seen.ts';

/** The list is at its anchor when it did not move in so many frames. */
const stableFrames = 4;
/** On a slow machine the list gives up before it is there, so it is told again after so many frames. */
const patientFrames = 60;
/** The reader decides where the list is from then on. */
const longestMs = 20_000;
export const readerScrolls = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

interface Target {
  go: () => void;
  isThere: () => boolean;
  /** After how many frames the list is told again. */
  frames: number;
}

interface Start {
  /** The message that a link named. */
  near: number | undefined;
  entry: Entry;
}

/**
 * Shows a replaced view at its anchor: the place to which the reader goes back, the first unread message, the message that
 * was on top, or the end. Returns whether the list has arrived there. `stay` keeps the list where it is, because the reader
 * moves it, and `goToEnd` moves it to the end of what is loaded.
 */
export function useAnchor(list: List, rows: readonly Row[], view: View, { near, entry }: Start) {
  const session = useSession();
  const { anchor, version, narrow } = view;
  const wanted = `${keyOf(narrow)} ${version}`;
  const shown = useRef('');
  const target = useRef<Target>(undefined);
  const [arrivedAt, setArrivedAt] = useState('');
  const isArrived = arrivedAt === wanted;
  const place = usePlace(list, rows, entry, isArrived);
  useLayoutEffect(() => {
    if (shown.current === wanted || rows.length === 0) return;
    const isFirst = shown.current === '';
    const isByTime = narrow.kind === 'search' || narrow.kind === 'starred';
    const isEndWanted = session.shown?.topId === newestId;
    const left = place.current;
    shown.current = wanted;
    if (left && (isFirst ? covers(view, left.id) : anchor === left.id)) target.current = placeTarget(list, rows, left);
    else {
      const index =
        isFirst && near === undefined && !isByTime && !isEndWanted
          ? rows.findIndex(({ message }) => message !== undefined && !message.flags.includes('read'))
          : rows.findIndex((row) => isRowOf(row, anchor));
      target.current = rowTarget(list, index, anchor === near ? 'center' : 'start');
    }
    target.current.go();
  });
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isArrived || isEmpty) return;
    const until = performance.now() + longestMs;
    const arrive = (): void => setArrivedAt(wanted);
    let [stable, waited] = [0, 0];
    let frame = requestAnimationFrame(function look() {
      const isThere = target.current?.isThere() ?? false;
      stable = isThere ? stable + 1 : 0;
      if (stable >= stableFrames || performance.now() > until) return arrive();
      if (!isThere && ++waited % (target.current?.frames ?? patientFrames) === 0) target.current?.go();
      frame = requestAnimationFrame(look);
    });
    const element = list.scrollElement;
    for (const name of readerScrolls) element?.addEventListener(name, arrive, { passive: true, once: true });
    return () => {
      cancelAnimationFrame(frame);
      for (const name of readerScrolls) element?.removeEventListener(name, arrive);
    };
  }, [list, wanted, isArrived, isEmpty]);
  const stay = (): void => {
    place.current = undefined;
    setArrivedAt(wanted);
  };
  const goToEnd = (): void => {
    place.current = undefined;
    target.current = endTarget(list);
    target.current.go();
    setArrivedAt('');
  };
  return { isArrived, stay, goToEnd };
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
  const { scrollElement } = list;
  useEffect(() => {
    const forget = (): void => {
      place.current = undefined;
    };
    for (const name of readerScrolls) scrollElement?.addEventListener(name, forget, { passive: true });
    return () => {
      for (const name of readerScrolls) scrollElement?.removeEventListener(name, forget);
    };
  }, [scrollElement]);
  return place;
}

const endTarget = (list: List): Target => ({
  go: () => list.scrollToEnd(),
  isThere: () => list.isAtEnd(1),
  frames: patientFrames,
});

function rowTarget(list: List, index: number, align: 'center' | 'start'): Target {
  if (index < 0) return endTarget(list);
  const offset = (): number => list.getOffsetForIndex(index, align)?.[0] ?? 0;
  return {
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
    go: () => list.scrollToOffset(offset()),
    isThere: () => size() !== undefined && Math.abs(offset() - (list.scrollOffset ?? 0)) <= 1,
    // The list does not correct this by itself when it measures rows.
    frames: 1,
  };
}
