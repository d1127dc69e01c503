import type { Model } from '../state/model.ts';
import type { Place } from '../state/place.ts';

export interface UnreadPlace {
  key: string;
  place: Place;
  ids: ReadonlySet<number>;
}

/** A person may have many thousands of unread messages: no array is made of them. */
function newestOf(ids: Iterable<number>): number {
  let newest = 0;
  for (const id of ids) newest = Math.max(newest, id);
  return newest;
}

/** The places with the newest unread messages, at most `most` of them, and whether there are others. */
export function newestUnread(
  unread: Model['unread'],
  most: number,
  isWanted: (place: Place, key: string) => boolean,
): { shown: readonly UnreadPlace[]; hasMore: boolean } {
  const found: (UnreadPlace & { newest: number })[] = [];
  for (const [key, { place, ids }] of unread)
    if (isWanted(place, key)) found.push({ key, place, ids, newest: newestOf(ids) });
  found.sort((a, b) => b.newest - a.newest);
  return { shown: found.slice(0, most), hasMore: found.length > most };
}
