import { type Target, targetOfFragment } from '../state/link-terms.ts';
import type { Model } from '../state/model.ts';
import { directPlace, type Narrow, type Place, topicPlace } from '../state/place.ts';
import { textOf } from '../state/query.ts';
import { channelName } from './names.ts';

/** The address of a page, as the router takes it; with a message, at which the page opens. */
export function linkTo(narrow: Narrow, near?: number) {
  const search = near === undefined ? {} : { near };
  switch (narrow.kind) {
    case 'feed':
      return { to: '/' as const, search };
    case 'all':
      return { to: '/recent' as const, search };
    case 'mentions':
      return { to: '/mentions' as const, search };
    case 'starred':
      return { to: '/starred' as const, search };
    case 'search':
      return { to: '/search' as const, search: { q: textOf(narrow.terms) } };
    case 'direct':
      return { to: '/dm/$people' as const, params: { people: narrow.userIds.join(',') }, search };
    case 'channel':
      return { to: '/channel/$channel' as const, params: { channel: String(narrow.channelId) }, search };
    default: {
      const params = { channel: String(narrow.channelId), topic: topicParam(narrow.topic) };
      return { to: '/channel/$channel/topic/$topic' as const, params, search };
    }
  }
}

/** The same as the path and the query of a link. */
export function pathOf(target: ReturnType<typeof linkTo> | { to: string; params?: never; search?: never }): string {
  const params: Record<string, string> = target.params ?? {};
  const path = target.to.replace(/\$(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const query = new URLSearchParams(Object.entries(target.search ?? {}).map(([name, value]) => [name, String(value)]));
  return query.size > 0 ? `${path}?${query}` : path;
}

/** The address of the page on screen, in this site. */
export const pageNow = (): string => location.pathname + location.search;

/** The router and the browser encode different characters of a path. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The conversation or list that a path leads to; undefined for other pages. */
export function narrowOfPath(path: string, ownId: number): Narrow | undefined {
  const [page, first = '', , last] = path.split('/').slice(1).map(decoded);
  if (page === '') return { kind: 'feed' };
  if (page === 'mentions' || page === 'starred') return { kind: page };
  const ids = idsOf(first);
  if (!ids || (page !== 'dm' && page !== 'channel')) return undefined;
  if (page === 'dm') return directPlace(ids, ownId);
  const [channelId = 0] = ids;
  return last === undefined ? { kind: 'channel', channelId } : topicPlace(channelId, topicOf(last));
}

/** A path keeps neither an empty part nor one of dots alone: a topic without a name is `~`. */
const topicParam = (topic: string): string => (/^(?:~.*|\.{0,2})$/s.test(topic) ? `~${topic}` : topic);
export const topicOf = (param: string): string => param.replace(/^~/, '');

/** The numbers of a path's part; `undefined` if there are others. */
export function idsOf(text: string): number[] | undefined {
  return /^\d{1,15}(,\d{1,15})*$/.test(text)
    ? text
        .split(',')
        .map(Number)
        .sort((a, b) => a - b)
    : undefined;
}

/** Links between messages: `#narrow/channel/2-general/topic/welcome/near/52`. */
export function targetOfLink(href: string): Target | undefined {
  const [address, fragment] = href.split('#narrow/');
  if (fragment === undefined || !isHere(address ?? '')) return undefined;
  return targetOfFragment(fragment);
}

/** The page on which people of other clients create channels. */
export function isLinkToNewChannel(href: string): boolean {
  const [address, fragment] = href.split('#');
  return fragment === 'channels/new' && isHere(address ?? '');
}

const isHere = (address: string): boolean =>
  URL.canParse(address, location.origin) && new URL(address, location.origin).origin === location.origin;

/** A link to a message that works in messages, too. */
export function permalink(model: Model, place: Place, messageId: number): string {
  const end = `near/${messageId}`;
  if (place.kind === 'direct') {
    // Each reader leaves out their own ID.
    const participants = [...new Set([...place.userIds, model.ownId])].sort((a, b) => a - b);
    return `${location.origin}/#narrow/dm/${participants.join(',')}/${end}`;
  }
  const channel = `${place.channelId}-${encodeDots(channelName(model, place.channelId).replaceAll(' ', '-'))}`;
  return `${location.origin}/#narrow/channel/${channel}/topic/${encodeDots(place.topic)}/${end}`;
}

/** In these links a dot stands for a percent sign. Parentheses would end a link in Markdown. */
const encodeDots = (text: string): string =>
  encodeURIComponent(text).replaceAll('.', '%2E').replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('%', '.');

export const isPlace = (narrow: Narrow): narrow is Place => narrow.kind === 'topic' || narrow.kind === 'direct';
