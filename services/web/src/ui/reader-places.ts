import { useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';
import { newestId } from '../session/message-pages.ts';
import { isRowOf, type Row } from './rows.ts';

/** The place of a reader in a list. */
export interface ReaderPlace {
  /** The message at the top; `newestId` at the end of the list. */
  id: number;
  /** The pixels of the list between the top of this message and the edge. */
  above: number;
}

/** A list in an entry of the browser's history. */
export interface Entry {
  name: string;
  /** The place at which the reader left the list; undefined on a first visit. */
  place: ReaderPlace | undefined;
}

const maxPlaces = 100;
/** Places by history entry, in the order in which the entries were left. */
const places = new Map<string, ReaderPlace>();

export function keepPlace({ name }: Entry, place: ReaderPlace): void {
  places.delete(name);
  places.set(name, place);
  const [oldest] = places.keys();
  if (places.size > maxPlaces && oldest !== undefined) places.delete(oldest);
}

export function useEntry(key: string, near: number | undefined): Entry {
  const { history } = useRouter();
  // The history changes before the page does, so it is read only when a page is opened.
  return useMemo(() => {
    const name = `${history.location.state.__TSR_key} ${near} ${key}`;
    return { name, place: places.get(name) };
  }, [history, key, near]);
}

/**
 * The present place of the reader. From the page itself: the list only estimates the sizes of rows that it has not shown.
 */
export function placeOnScreen(scroller: HTMLElement, rows: readonly Row[]): ReaderPlace | undefined {
  const { clientHeight, scrollHeight, scrollTop } = scroller;
  if (clientHeight === 0 || rows.length === 0) return undefined;
  const canvas = scroller.querySelector('.canvas')?.getBoundingClientRect().top ?? 0;
  if (scrollHeight - clientHeight - scrollTop > 1)
    for (const slot of scroller.querySelectorAll<HTMLElement>('.slot')) {
      const { top, bottom } = slot.getBoundingClientRect();
      const message = rows[Number(slot.dataset.index)]?.message;
      if (message && bottom - canvas > scrollTop) return { id: message.id, above: scrollTop - (top - canvas) };
    }
  return { id: newestId, above: 0 };
}

/** The row at which a list shows a place again, or that of the next message; -1 for the end. */
export function rowOfPlace(rows: readonly Row[], { id, above }: ReaderPlace): { index: number; above: number } {
  const index = rows.findIndex(({ message, hidden }) => message !== undefined && (hidden.at(-1) ?? message.id) >= id);
  const row = rows[index];
  return { index, above: row && isRowOf(row, id) ? above : 0 };
}
