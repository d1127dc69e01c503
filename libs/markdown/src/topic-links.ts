import { findUrls } from './auto-link.ts';
import type { Linkifier } from './context.ts';
import { findMatches } from './linkifier.ts';
import { safeUrl } from './url.ts';

export interface TopicLink {
  text: string;
  url: string;
}

/** Characters that separate addresses in a topic. */
const SEPARATORS = /[ !;),'"]/g;

/**
 * The links of a topic's name, in order: matches of linkifiers, where those listed earlier take precedence, and web
 * addresses.
 */
export function topicLinks(topic: string, linkifiers: readonly Linkifier[]): TopicLink[] {
  const limit = { matchesLeft: topic.length };
  const matches = linkifiers.flatMap((linkifier) =>
    findMatches(topic, linkifier, limit).filter(({ url }) => safeUrl(url) !== undefined),
  );
  const urls = findUrls(topic.replace(SEPARATORS, ' '), { stepsLeft: Number.POSITIVE_INFINITY })
    .filter(({ url }) => !url.includes('@') && !url.startsWith('bitcoin:'))
    .map(({ start, end, url }) => ({ start, end, text: url, url: /^https?:\/\//.test(url) ? url : `https://${url}` }));
  const kept: (TopicLink & { start: number; end: number })[] = [];
  for (const match of [...matches, ...urls])
    if (kept.every(({ start, end }) => match.end <= start || match.start >= end)) kept.push(match);
  return kept.sort((a, b) => a.start - b.start).map(({ text, url }) => ({ text, url }));
}
