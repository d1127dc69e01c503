import { isMuted, type Model, type Muting } from '../state/model.ts';
import type { Narrow, Place } from '../state/place.ts';
import { t } from '../text/text.ts';

/** The names of people and channels. */
export type Directory = Pick<Model, 'ownId' | 'people' | 'channels' | 'muted'>;

export const personName = (model: Pick<Directory, 'people'>, id: number): string =>
  model.people.get(id)?.name ?? t('unknownPerson');
/** The name of a person beside their messages and reactions. */
export const shownName = (model: Pick<Directory, 'people' | 'muted'>, id: number): string =>
  model.muted.has(id) ? mutedName : personName(model, id);
const mutedName = t('mutedPerson');
export const channelName = (model: Pick<Directory, 'channels'>, id: number): string =>
  model.channels.get(id)?.name ?? t('unknownChannel');
export const topicName = (topic: string): string => (topic === '' ? t('generalChat') : topic);

export function peopleNames(model: Directory, ids: readonly number[]): string {
  if (ids.length === 1 && ids[0] === model.ownId) return t('notesToYourself');
  // A conversation with one muted person is opened by their name.
  return ids.map((id) => (ids.length === 1 ? personName : shownName)(model, id)).join(', ');
}

const titles = {
  feed: t('combinedFeed'),
  all: t('recentConversations'),
  mentions: t('mentions'),
  starred: t('starredMessages'),
  search: t('search'),
};

export function titleOf(model: Directory, narrow: Narrow): string {
  if (narrow.kind === 'direct') return peopleNames(model, narrow.userIds);
  if (narrow.kind !== 'channel' && narrow.kind !== 'topic') return titles[narrow.kind];
  const channel = `#${channelName(model, narrow.channelId)}`;
  return narrow.kind === 'channel' ? channel : `${channel} › ${topicName(narrow.topic)}`;
}

type Counted = Muting & Pick<Model, 'unread'>;

/** Unread messages of the places that a filter chooses; those of muted places do not count. */
export function countUnread(model: Counted, isChosen: (place: Place) => boolean): number {
  let count = 0;
  for (const { place, ids } of model.unread.values()) if (isChosen(place) && !isMuted(model, place)) count += ids.size;
  return count;
}
