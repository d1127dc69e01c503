import type { Channel } from './members.ts';
import { keyOf, type Place } from './place.ts';

export interface Unread {
  place: Place;
  ids: ReadonlySet<number>;
}

/** Channels and unread messages. Messages of archived channels are stored separately and count again after a restore. */
export interface Unreads {
  /** The subscribed channels, without archived ones. */
  channels: ReadonlyMap<number, Channel>;
  archived: ReadonlyMap<number, Channel>;
  /** Unread messages, by key of their place, without those of archived channels. */
  unread: ReadonlyMap<string, Unread>;
  archivedUnread: ReadonlyMap<string, Unread>;
}

export function channelParts(all: readonly Channel[]): Pick<Unreads, 'channels' | 'archived'> {
  const part = (hidden: boolean) =>
    new Map(all.flatMap((one) => (one.isArchived === hidden ? [[one.id, one] as const] : [])));
  return { channels: part(false), archived: part(true) };
}

export function unreadParts(
  all: readonly Unread[],
  { archived }: Pick<Unreads, 'archived'>,
): Pick<Unreads, 'unread' | 'archivedUnread'> {
  const part = (hidden: boolean) =>
    new Map(
      all.flatMap((one) => (isArchived(archived, one.place) === hidden ? [[keyOf(one.place), one] as const] : [])),
    );
  return { unread: part(false), archivedUnread: part(true) };
}

const isArchived = (archived: Unreads['archived'], place: Place): boolean =>
  place.kind === 'topic' && archived.has(place.channelId);

/** All unread messages, also those that do not count. */
export const everyUnread = ({ unread, archivedUnread }: Pick<Unreads, 'unread' | 'archivedUnread'>): Unread[] => [
  ...unread.values(),
  ...archivedUnread.values(),
];

export function addUnread<M extends Unreads>(model: M, place: Place, ids: Iterable<number>): M {
  const key = keyOf(place);
  const part = isArchived(model.archived, place) ? 'archivedUnread' : 'unread';
  const known = model[part].get(key);
  const added = { place: known?.place ?? place, ids: new Set([...(known?.ids ?? []), ...ids]) };
  return { ...model, [part]: new Map(model[part]).set(key, added) };
}

export function dropUnread<M extends Unreads>(model: M, ids: readonly number[]): M {
  const [unread, archivedUnread] = [without(model.unread, ids), without(model.archivedUnread, ids)];
  const isSame = unread === model.unread && archivedUnread === model.archivedUnread;
  return isSame ? model : { ...model, unread, archivedUnread };
}

function without(before: Unreads['unread'], ids: readonly number[]): Unreads['unread'] {
  const gone = new Set(ids);
  let after: Map<string, Unread> | undefined;
  for (const [key, one] of before) {
    // A conversation without removed messages is not copied, because it may have many unread messages.
    if (!ids.some((id) => one.ids.has(id))) continue;
    const left = new Set([...one.ids].filter((id) => !gone.has(id)));
    after ??= new Map(before);
    if (left.size > 0) after.set(key, { ...one, ids: left });
    else after.delete(key);
  }
  return after ?? before;
}
