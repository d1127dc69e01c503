import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { holds, keyOf } from '../state/place.ts';

import type { View } from '../state/views.ts';
import { MessageRow, OutgoingRow } from './message-row.tsx';
import { type Row, rowsOf } from './rows.ts';
import { useSelected, useSession } from './session-context.tsx';

/** Further messages are loaded when fewer than this are left above or below. */
const margin = 15;

export function MessageList({ view }: { view: View }) {
  const session = useSession();
  const { narrow } = view;
  const messages = useSelected((state) => state.messages);
  const outbox = useSelected((state) => state.outbox);
  const ownId = useSelected((state) => state.model.ownId);
  const rows = useMemo(
    () => rowsOf({ view, messages, outbox: outbox.filter(({ place }) => holds(narrow, place, false)), ownId }),
    [view, messages, outbox, narrow, ownId],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 64,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    anchorTo: 'end',
    followOnAppend: view.hasNewest,
    scrollEndThreshold: 80,
  });
  useAnchor(list, rows, view);
  const items = list.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  useEffect(() => {
    if (first < margin) void session.extend(narrow, 'oldest');
    if (last > rows.length - margin) void session.extend(narrow, 'newest');
  }, [session, narrow, first, last, rows.length]);
  useSeen(list, rows, scroller.current);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard.
    <section className="messages" ref={scroller} tabIndex={0} aria-label="Messages">
      {rows.length === 0 && <p className="empty">There are no messages here yet.</p>}
      <div className="canvas" role={rows.length > 0 ? 'feed' : undefined} style={{ height: list.getTotalSize() }}>
        {items.map(({ index, key, start }) => (
          <div
            key={key}
            className="slot"
            data-index={index}
            ref={list.measureElement}
            style={{ transform: `translateY(${start}px)` }}
          >
            <RowView row={rows[index] as Row} isFeed={narrow.kind === 'feed' || narrow.kind === 'channel'} />
          </div>
        ))}
      </div>
    </section>
  );
}

function RowView({ row, isFeed }: { row: Row; isFeed: boolean }) {
  return row.outgoing ? <OutgoingRow row={row} outgoing={row.outgoing} /> : <MessageRow row={row} hasPlaces={isFeed} />;
}

type List = Virtualizer<HTMLDivElement, Element>;

/** Shows a replaced view at its anchor: the first unread message, the message that was on top, or the end. */
function useAnchor(list: List, rows: readonly Row[], { anchor, version, narrow }: View): void {
  const shown = useRef('');
  useLayoutEffect(() => {
    const wanted = `${keyOf(narrow)} ${version}`;
    if (shown.current === wanted || rows.length === 0) return;
    shown.current = wanted;
    const index = rows.findIndex(({ message }) => message !== undefined && message.id === anchor);
    if (index >= 0) list.scrollToIndex(index, { align: 'start' });
    else list.scrollToEnd();
  });
}

/** What lies within the visible part for a moment counts as read. */
function useSeen(list: List, rows: readonly Row[], scroller: HTMLDivElement | null): void {
  const session = useSession();
  const offset = list.scrollOffset ?? 0;
  useEffect(() => {
    const look = (): void => {
      if (!scroller || document.visibilityState !== 'visible') return;
      const end = offset + scroller.clientHeight;
      const visible = list.getVirtualItems().filter((item) => item.start < end && item.end > offset);
      const top = visible.map(({ index }) => rows[index]?.message?.id).find((id) => id !== undefined);
      if (session.shown) session.shown.topId = list.isAtEnd(80) ? undefined : top;
      const { unread } = session.state.model;
      const ids = visible.flatMap(({ index, end: bottom }) => {
        const message = rows[index]?.message;
        return message && bottom <= end + 40 && !message.flags.includes('read') ? [message.id] : [];
      });
      if (unread.size > 0 && ids.length > 0) session.seen(ids);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [session, list, rows, scroller, offset]);
}
