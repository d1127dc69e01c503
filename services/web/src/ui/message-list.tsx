import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useState } from 'react';
import { mayGrow } from '../state/bounds.ts';
import type { Outgoing } from '../state/state.ts';
import type { View } from '../state/views.ts';
import { t } from '../text/text.ts';
import { focusMessage, useReading } from './editing.ts';
import { HiddenRow } from './hidden-row.tsx';
import { MessageRow, OutgoingRow } from './message-row.tsx';
import type { Entry } from './reader-places.ts';
import { isRowOf, messageForKeys, type Row } from './rows.ts';
import { useSession } from './session-context.tsx';
import { useAnchor } from './use-anchor.ts';
import { useRows } from './use-rows.ts';
import { belowOf, endThreshold, type List, topIndexOf, useSeen } from './use-seen.ts';

/** Further messages are loaded when fewer than this are left above or below. */
const margin = 15;

interface MessageListProps {
  view: View;
  /** The message that a link named. */
  near?: number | undefined;
  entry: Entry;
  empty?: string;
}

export const MessageList = memo(function MessageList({
  view,
  near,
  entry,
  empty = t('thereAreNoMessagesHereYet'),
}: MessageListProps) {
  const session = useSession();
  const { narrow } = view;
  const { own, rows, reveal } = useRows(view);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 64,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 5,
    anchorTo: 'end',
    scrollEndThreshold: endThreshold,
  });
  const { isArrived, offset, stay, goToEnd } = useAnchor(list, rows, view, { near, entry });
  const isAnchored = isArrived || rows.length === 0;
  const items = list.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const { scrollOffset } = list;
  // This hook must stand before the next effect, which uses the message at the top.
  useSeen(list, rows, narrow, isAnchored);
  useEffect(() => {
    // The list finds its anchor by its index, which an older page would change.
    if (!isAnchored) return;
    // A page may add no row: its messages fall into one that hides them, or are out of sight.
    const topId = session.shown?.topId;
    if (first < margin && mayGrow(view, 'oldest', topId)) void session.extend(narrow, 'oldest');
    if (last > rows.length - margin && mayGrow(view, 'newest', topId)) void session.extend(narrow, 'newest');
  }, [session, narrow, first, last, rows.length, view, isAnchored, scrollOffset]);
  const openNewest = (): void => void session.openNewest(narrow);
  const load = view.hasNewest ? undefined : openNewest;
  useSent(own, load ?? goToEnd);
  const [current, setCurrent] = useCurrent(list, rows, near, {
    isAnchored,
    offset,
    onMove: stay,
    goToEnd,
    openNewest: load,
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
                  onReveal={() => reveal(row.hidden)}
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
        <button type="button" className="to-end" onClick={load ?? goToEnd}>
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

/** Pixels above the end from which the button to the end is shown. */
const jumpFrom = 400;

interface Moves {
  isAnchored: boolean;
  offset: () => number | undefined;
  onMove: () => void;
  goToEnd: () => void;
  openNewest: (() => void) | undefined;
}

/**
 * The message that keys act on: the one with the focus, or the one that a link named, until the reader scrolls away from
 * it. Keys move it, after `onMove`. `openNewest` loads the newest messages, if they are not among the rows.
 */
function useCurrent(
  list: List,
  rows: readonly Row[],
  near: number | undefined,
  { isAnchored, offset, onMove, goToEnd, openNewest }: Moves,
): [number | undefined, (id: number) => void] {
  const [current, setCurrent] = useState(near);
  const [wanted, setWanted] = useState<number>();
  useEffect(() => setCurrent(near), [near]);
  const indexOf = (id: number | undefined): number => rows.findIndex((row) => isRowOf(row, id));
  /** The index of the last row with a stored message. Messages that are being sent follow. */
  const last = rows.findLastIndex(({ message }) => message);
  useEffect(() => {
    if (wanted !== undefined && focusMessage(wanted)) setWanted(undefined);
  });
  const position = (): number => {
    const known = indexOf(current);
    const isThere = wanted !== undefined || !isAnchored || list.getVirtualItems().some(({ index }) => index === known);
    const at = known >= 0 && isThere ? known : topIndexOf(list, offset());
    return at > last ? -1 : at;
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
    current: () => messageForKeys(rows[position() < 0 ? last : position()]),
    move: (step) => {
      const at = position();
      focus(at < 0 ? last : Math.max(0, Math.min(last, at + step)));
    },
    end: () => {
      if (openNewest) openNewest();
      else if (last < rows.length - 1) goToEnd();
      else focus(last);
    },
  });
  return [current, setCurrent];
}

/** The list moves to a message that its writer sends. */
function useSent(own: readonly Outgoing[], goToNewest: () => void): void {
  const known = useRef(own);
  useEffect(() => {
    const before = new Set(known.current.map(({ id }) => id));
    known.current = own;
    if (own.some(({ id }) => !before.has(id))) goToNewest();
  }, [own]);
}
