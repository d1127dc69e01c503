import type { Linkifier } from './context.ts';
import { findLinkifierMatches } from './linkifier.ts';
import { parser } from './parser.ts';

export interface TopicLink {
  text: string;
  url: string;
}

/** The links of a topic's name, in order: linkifier matches and web addresses. */
export function topicLinks(topic: string, linkifiers: readonly Linkifier[]): TopicLink[] {
  const matches = findLinkifierMatches(topic, linkifiers, { matchesLeft: topic.length });
  const urls = (parser.linkify.match(topic) ?? [])
    .filter((link) => link.schema === 'http:' || link.schema === 'https:')
    .map((link) => ({ start: link.index, end: link.lastIndex, text: link.text, url: link.url }));
  const links: TopicLink[] = [];
  let at = 0;
  for (const link of [...urls, ...matches].sort((a, b) => a.start - b.start)) {
    if (link.start < at) continue;
    links.push({ text: link.text, url: link.url });
    at = link.end;
  }
  return links;
}
