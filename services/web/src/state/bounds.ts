import type { Shown, View } from './views.ts';

/** Above this number a view drops the messages farthest from the reader, who loads them again by scrolling. */
const maxIds = 1_200;
const keptIds = 700;
/** A view is shown at once when the reader comes back to it. */
const maxViews = 60;
/** Maximum number of messages in all views: each event may copy them. */
const maxListed = 15_000;
/** Recent conversations are found in more messages. */
const maxOfAll = 6_000;
/** Maximum number of messages that belong to no view. */
const maxLoose = 500;

/** The view on screen and its top message; undefined at the end of the view. */
export interface Focus {
  key: string;
  topId: number | undefined;
}

/** Bounds the memory of a page that stays open: drops messages far from the reader. */
export function bounded(shown: Shown, focus: Focus | undefined): Shown {
  if (isWithin(shown)) return shown;
  // The view on screen first, then those that were opened last.
  const byRank = [...shown.views].toSorted(([a], [b]) => Number(a === focus?.key) - Number(b === focus?.key)).reverse();
  const kept = new Map<string, View>();
  let listed = 0;
  for (const [key, view] of byRank) {
    const near = nearest(view, key === focus?.key ? focus.topId : undefined);
    listed += near.ids.length;
    if (kept.size >= maxViews || listed > maxListed) break;
    kept.set(key, near);
  }
  // The new map keeps the order in which the views were opened.
  const views = new Map([...shown.views.keys()].flatMap((key) => entryOf(kept, key)));
  const wanted = new Set([...views.values()].flatMap(({ ids }) => ids));
  return { messages: new Map([...shown.messages].filter(([id]) => wanted.has(id))), views };
}

function entryOf(kept: ReadonlyMap<string, View>, key: string): [string, View][] {
  const view = kept.get(key);
  return view ? [[key, view]] : [];
}

function isWithin({ messages, views }: Shown): boolean {
  let listed = 0;
  for (const view of views.values()) {
    if (view.ids.length > limitOf(view)) return false;
    listed += view.ids.length;
  }
  return views.size <= maxViews && listed <= maxListed && messages.size <= listed + maxLoose;
}

const limitOf = ({ narrow }: View): number => (narrow.kind === 'all' ? maxOfAll : maxIds);

function nearest(view: View, topId: number | undefined): View {
  const count = view.ids.length;
  if (count <= limitOf(view)) return view;
  const middle = countAbove(view, topId);
  const start = Math.max(0, Math.min(count - keptIds, middle - keptIds / 2));
  const ids = view.ids.slice(start, start + keptIds);
  const kept = new Set(ids);
  return {
    ...view,
    ids,
    hasOldest: view.hasOldest && start === 0,
    hasNewest: view.hasNewest && start + keptIds >= count,
    matches: new Map([...view.matches].filter(([id]) => kept.has(id))),
  };
}

function countAbove({ ids }: View, topId: number | undefined): number {
  const found = topId === undefined ? -1 : ids.findIndex((id) => id >= topId);
  return found < 0 ? ids.length : found;
}

/**
 * Whether a list loads messages at this end by itself. Not those that `bounded` would drop again: many messages may be
 * one row, or none, so a list may always be at its end.
 */
export function mayGrow(view: View, towards: 'oldest' | 'newest', topId: number | undefined): boolean {
  if (towards === 'oldest' ? view.hasOldest : view.hasNewest) return false;
  const above = countAbove(view, topId);
  return (towards === 'oldest' ? above : view.ids.length - above) < keptIds / 2;
}

/** Whether a message lies in the loaded part of a view, even if it is no longer there itself. */
export const covers = (
  { ids, hasOldest, hasNewest }: Pick<View, 'ids' | 'hasOldest' | 'hasNewest'>,
  id: number,
): boolean => (hasOldest || id >= (ids[0] ?? Number.POSITIVE_INFINITY)) && (hasNewest || id <= (ids.at(-1) ?? 0));
