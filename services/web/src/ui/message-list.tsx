import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { mayGrow } from '../state/bounds.ts';
import { holds, keyOf, type Narrow } from '../state/place.ts';
import type { View } from '../state/views.ts';
import { t } from '../text/text.ts';
import { focusMessage, useReading } from './editing.ts';
import { HiddenRow } from './hidden-row.tsx';
import { MessageRow, OutgoingRow } from './message-row.tsx';
import { isRowOf, type Row, rowsOf } from './rows.ts';
import { useSelected, useSession } from './session-context.tsx';

/** Further messages are loaded when fewer than this are left above or below. */
const margin = 15;

interface MessageListProps {
  view: View;
  /** The message that a link named. */
  near?: number | undefined;
  empty?: string;
}

export const MessageList = memo(function MessageList({
  view,
  near,
  empty = t('thereAreNoMessagesHereYet'),
}: MessageListProps) {
  const session = useSession();
  const { narrow } = view;
  const messages = useSelected((state) => state.messages);
  const outbox = useSelected((state) => state.outbox);
  const ownId = useSelected((state) => state.model.ownId);
  const clockSkew = useSelected((state) => state.clockSkew);
  const muted = useSelected((state) => state.model.muted);
  const [revealed, setRevealed] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => {
    const own = outbox.filter(({ place }) => holds(narrow, { place, isMuted: false, flags: [] }));
    return rowsOf({ view, messages, outbox: own, ownId, clockSkew, muted, revealed });
  }, [view, messages, outbox, narrow, ownId, clockSkew, muted, revealed]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 64,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 5,
    anchorTo: 'end',
    followOnAppend: view.hasNewest,
    scrollEndThreshold: 80,
  });
  const { isArrived, stay } = useAnchor(list, rows, view, near);
  const isAnchored = isArrived || rows.length === 0;
  const items = list.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const { scrollOffset } = list;
  // Before the next effect, which needs the message at the top.
  useSeen(list, rows, narrow, scroller.current);
  useEffect(() => {
    // The list finds its anchor by its index, which an older page would change.
    if (!isAnchored) return;
    // A page may add no row: its messages fall into one that hides them, or are out of sight.
    const topId = session.shown?.topId;
    if (first < margin && mayGrow(view, 'oldest', topId)) void session.extend(narrow, 'oldest');
    if (last > rows.length - margin && mayGrow(view, 'newest', topId)) void session.extend(narrow, 'newest');
  }, [session, narrow, first, last, rows.length, view, isAnchored, scrollOffset]);
  const openNewest = (): void => void session.open(narrow, newestId);
  const [current, setCurrent] = useCurrent(list, rows, near, {
    onMove: stay,
    openNewest: view.hasNewest ? undefined : openNewest,
  });
  const rendered = items.map(({ index }) => rows[index]?.message?.id);
  const reachable = rendered.includes(current) ? current : rendered.findLast((id) => id !== undefined);
  const isPlace = narrow.kind === 'topic' || narrow.kind === 'direct';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard.
    <section className="messages" ref={scroller} tabIndex={0} aria-label={t('messages')}>
      {rows.length === 0 && <p className="empty">{withoutRows(view, empty)}</p>}
      <div className="canvas" role={rows.length > 0 ? 'feed' : undefined} style={{ height: list.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index] as Row;
          const id = row.message?.id ?? 0;
          return (
            <div
              key={key}
              className="slot"
              data-index={index}
              ref={list.measureElement}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row.outgoing ? (
                <OutgoingRow row={row} outgoing={row.outgoing} />
              ) : row.hidden.length > 0 ? (
                <HiddenRow
                  row={row}
                  hasPlaces={!isPlace}
                  isCurrent={id === reachable}
                  onFocus={setCurrent}
                  onReveal={() => setRevealed(new Set([...revealed, ...row.hidden]))}
                />
              ) : (
                <MessageRow
                  row={row}
                  hasPlaces={!isPlace}
                  match={view.matches.get(id)}
                  isCurrent={id === reachable}
                  isNear={id === near}
                  onFocus={setCurrent}
                />
              )}
            </div>
          );
        })}
      </div>
      {(!view.hasNewest || belowOf(list) > jumpFrom) && rows.length > 0 && (
        <button type="button" className="to-end" onClick={() => (view.hasNewest ? list.scrollToEnd() : openNewest())}>
          <span aria-hidden="true">↓ </span>
          {t('newestMessages')}
        </button>
      )}
    </section>
  );
});

/** Messages are missing, or all that are loaded are out of sight. */
function withoutRows(view: View, empty: string): string {
  if (view.hasOldest && view.hasNewest) return empty;
  const isLoading = mayGrow(view, 'oldest', undefined) || mayGrow(view, 'newest', undefined);
  return isLoading ? t('loadingMessages') : t('theNewestMessagesHereAreOfPeople');
}

/** No message is newer. */
const newestId = 10_000_000_000_000_000;
/** The way to the end is shown from so far above it. */
const jumpFrom = 400;

type List = Virtualizer<HTMLDivElement, Element>;

/**
 * Pixels of the list below the visible part. From the sizes that the list knows: asking the element would make the browser
 * arrange the page at once.
 */
const belowOf = (list: List): number => list.getTotalSize() - (list.scrollOffset ?? 0) - (list.scrollRect?.height ?? 0);

/**
 * The message that keys act on: the one with the focus, or the one that a link named. Keys move it, after `onMove`.
 * `openNewest` loads the newest messages, if they are not among the rows.
 */
function useCurrent(
  list: List,
  rows: readonly Row[],
  near: number | undefined,
  { onMove, openNewest }: { onMove: () => void; openNewest: (() => void) | undefined },
): [number | undefined, (id: number) => void] {
  const session = useSession();
  const [current, setCurrent] = useState(near);
  const [wanted, setWanted] = useState<number>();
  useEffect(() => setCurrent(near), [near]);
  const indexOf = (id: number | undefined): number => rows.findIndex((row) => isRowOf(row, id));
  useEffect(() => {
    if (wanted !== undefined && focusMessage(wanted)) setWanted(undefined);
  });
  const position = (): number => {
    const known = indexOf(current);
    return known >= 0 ? known : indexOf(session.shown?.topId);
  };
  const focus = (index: number): void => {
    const id = rows[index]?.message?.id;
    if (id === undefined) return;
    onMove();
    list.scrollToIndex(index, { align: 'auto' });
    setCurrent(id);
    setWanted(id);
  };
  useReading({
    current: () => rows[position() < 0 ? rows.length - 1 : position()]?.message,
    move: (step) => {
      const at = position();
      focus(at < 0 ? rows.length - 1 : Math.max(0, Math.min(rows.length - 1, at + step)));
    },
    end: () => (openNewest ? openNewest() : focus(rows.length - 1)),
  });
  return [current, setCurrent];
}

/** The list is at its anchor when it did not move in so many frames. */
const stableFrames = 4;
/** On a slow machine the list gives up before it is there, so it is told again after so many frames. */
const patientFrames = 60;
/** The reader decides where the list is from then on. */
const longestMs = 20_000;
const readerScrolls = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

/**
 * Shows a replaced view at its anchor: the first unread message, the message that was on top, or the end. Returns
 * whether the list has arrived there. `stay` keeps the list where it is, because the reader moves it.
 */
function useAnchor(list: List, rows: readonly Row[], view: View, near: number | undefined) {
  const { anchor, version, narrow } = view;
  const wanted = `${keyOf(narrow)} ${version}`;
  const shown = useRef('');
  const target = useRef<{ go: () => void; isThere: () => boolean }>(undefined);
  const [arrivedAt, setArrivedAt] = useState('');
  const isArrived = arrivedAt === wanted;
  useLayoutEffect(() => {
    if (shown.current === wanted || rows.length === 0) return;
    const isFirst = shown.current === '';
    const isByTime = narrow.kind === 'search' || narrow.kind === 'starred';
    const index =
      isFirst && near === undefined && !isByTime
        ? rows.findIndex(({ message }) => message !== undefined && !message.flags.includes('read'))
        : rows.findIndex((row) => isRowOf(row, anchor));
    shown.current = wanted;
    const align = anchor === near ? 'center' : 'start';
    const offset = (): number => list.getOffsetForIndex(index, align)?.[0] ?? 0;
    target.current =
      index >= 0
        ? {
            go: () => list.scrollToIndex(index, { align }),
            isThere: () => Math.abs(offset() - (list.scrollOffset ?? 0)) <= 1,
          }
        : { go: () => list.scrollToEnd(), isThere: () => list.isAtEnd(1) };
    target.current.go();
  });
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isArrived || isEmpty) return;
    const until = performance.now() + longestMs;
    const arrive = (): void => setArrivedAt(wanted);
    let [stable, waited] = [0, 0];
    let frame = requestAnimationFrame(function look() {
      stable = target.current?.isThere() ? stable + 1 : 0;
      if (stable >= stableFrames || performance.now() > until) return arrive();
      if (++waited % patientFrames === 0) target.current?.go();
      frame = requestAnimationFrame(look);
    });
    const element = list.scrollElement;
    for (const name of readerScrolls) element?.addEventListener(name, arrive, { passive: true, once: true });
    return () => {
      cancelAnimationFrame(frame);
      for (const name of readerScrolls) element?.removeEventListener(name, arrive);
    };
  }, [list, wanted, isArrived, isEmpty]);
  return { isArrived, stay: () => setArrivedAt(wanted) };
}

/** Marks visible messages as read, except in the results of a search. */
function useSeen(list: List, rows: readonly Row[], narrow: Narrow, scroller: HTMLDivElement | null): void {
  const session = useSession();
  const offset = list.scrollOffset ?? 0;
  useEffect(() => {
    const look = (): void => {
      if (!scroller || document.visibilityState !== 'visible') return;
      const end = offset + (list.scrollRect?.height ?? 0);
      const visible = list.getVirtualItems().filter((item) => item.start < end && item.end > offset);
      const top = visible.map(({ index }) => rows[index]?.message?.id).find((id) => id !== undefined);
      if (session.shown) session.shown.topId = belowOf(list) <= 80 ? undefined : top;
      if (narrow.kind === 'search' || narrow.kind === 'starred') return;
      const { unread } = session.state.model;
      const ids = visible.flatMap(({ index, end: bottom }) => {
        const message = rows[index]?.message;
        return message && bottom <= end + 40 && !message.flags.includes('read') ? [message.id] : [];
      });
      if (unread.size > 0 && ids.length > 0) session.reading.seen(ids);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [session, list, rows, narrow, scroller, offset]);
}
