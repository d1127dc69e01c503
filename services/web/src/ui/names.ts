import { isMuted, type Model, type Muting } from '../state/model.ts';
import type { Narrow } from '../state/place.ts';
import type { State } from '../state/state.ts';
import { t } from '../text/text.ts';

/** The names of people and channels. */
export type Directory = Pick<Model, 'ownId' | 'people' | 'channels' | 'archived' | 'listed' | 'muted'> &
  Partial<Pick<State, 'former'>>;

export const personName = (model: Pick<Directory, 'people'>, id: number): string =>
  model.people.get(id)?.name ?? t('unknownPerson');
/** The name of a person beside their messages and reactions. */
export const shownName = (model: Pick<Directory, 'people' | 'muted'>, id: number): string =>
  model.muted.has(id) ? mutedName : personName(model, id);
const mutedName = t('mutedPerson');
type Channels = Pick<Directory, 'channels' | 'archived' | 'listed' | 'former'>;
export const channelName = ({ channels, archived, listed, former }: Channels, id: number): string =>
  (channels.get(id) ?? archived.get(id) ?? listed?.get(id))?.name ??
  former?.get(id) ??
  t('unknownChannelWithNumber', { number: String(id) });
export const topicName = (topic: string): string => (topic === '' ? t('generalChat') : topic);

export function peopleNames(model: Directory, ids: readonly number[]): string {
  if (ids.length === 1 && ids[0] === model.ownId) return t('notesToYourself');
  // A conversation with one muted person is opened by their name.
  return ids
    .map((id) => (ids.length === 1 ? personName : shownName)(model, id))
    .map(isolated)
    .join(', ');
}

const titles = {
  feed: t('combinedFeed'),
  all: t('recentConversations'),
  mentions: t('mentions'),
  starred: t('starredMessages'),
  search: t('search'),
};

const changesDirection = /[\p{Bidi_Control}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const isolates = /[\u2066-\u2069]/g;

/** A part of a line whose direction ends with it: names may contain characters that would reverse the following text. */
const isolated = (name: string): string =>
  changesDirection.test(name) ? `\u2068${name.replace(isolates, '')}\u2069` : name;

export function titleOf(model: Directory, narrow: Narrow): string {
  if (narrow.kind === 'direct') return peopleNames(model, narrow.userIds);
  if (narrow.kind !== 'channel' && narrow.kind !== 'topic') return titles[narrow.kind];
  const channel = `#${isolated(channelName(model, narrow.channelId))}`;
  return narrow.kind === 'channel' ? channel : `${channel} › ${isolated(topicName(narrow.topic))}`;
}

/** The title of a page, with a note if the only other person of a conversation is deactivated. */
export function headingOf(model: Directory, narrow: Narrow): string {
  const title = titleOf(model, narrow);
  const [id, ...more] = narrow.kind === 'direct' ? narrow.userIds : [];
  const isGone = id !== undefined && more.length === 0 && model.people.get(id)?.isActive === false;
  return isGone ? t('nameDeactivated', { name: title }) : title;
}

type Counted = Muting & Pick<Model, 'unread'>;

interface UnreadCounts {
  total: number;
  byChannel: ReadonlyMap<number, number>;
}

let counted: { model: Counted; counts: UnreadCounts } | undefined;

/**
 * Unread messages in all, and by channel; those of muted places do not count. There may be thousands of conversations, so
 * they are counted once for all parts of the page that show a number.
 */
export function unreadCounts(model: Counted): UnreadCounts {
  const last = counted?.model;
  const isSame =
    last?.unread === model.unread &&
    last.channels === model.channels &&
    last.policies === model.policies &&
    last.muted === model.muted;
  if (!counted || !isSame) counted = { model, counts: count(model) };
  return counted.counts;
}

type Mentioned = Pick<Model['marks'], 'mentions'> & Pick<Model, 'archivedUnread'>;
let mentioned: (Mentioned & { count: number }) | undefined;

/** The number of unread mentions, without those in archived channels; counted again only after a change. */
export function unreadMentions({
  marks: { mentions },
  archivedUnread,
}: Pick<Model, 'marks' | 'archivedUnread'>): number {
  if (mentioned?.mentions !== mentions || mentioned.archivedUnread !== archivedUnread) {
    const hidden = new Set([...archivedUnread.values()].flatMap(({ ids }) => [...ids]));
    mentioned = { mentions, archivedUnread, count: [...mentions].filter((id) => !hidden.has(id)).length };
  }
  return mentioned.count;
}

function count(model: Counted): UnreadCounts {
  let total = 0;
  const byChannel = new Map<number, number>();
  for (const [key, { place, ids }] of model.unread) {
    if (isMuted(model, place, key)) continue;
    total += ids.size;
    if (place.kind === 'topic') byChannel.set(place.channelId, (byChannel.get(place.channelId) ?? 0) + ids.size);
  }
  return { total, byChannel };
}
