import type { RenderContext } from './context.ts';
import { findLinkifierMatches, linkifierBudget } from './linkifier.ts';
import { parser } from './parser.ts';

/** The links of a topic's name, in order: linkifier matches and web addresses. */
export function topicLinks(topic: string, linkifiers: RenderContext['linkifiers']): { text: string; url: string }[] {
  const matches = findLinkifierMatches(topic, linkifiers, linkifierBudget());
  const urls = (parser.linkify.match(topic) ?? [])
    .filter((link) => link.schema === 'http:' || link.schema === 'https:')
    .map((link) => ({ start: link.index, end: link.lastIndex, text: link.text, url: link.url }));
  const links: { text: string; url: string }[] = [];
  let at = 0;
  for (const link of [...urls, ...matches].sort((a, b) => a.start - b.start)) {
    if (link.start < at) continue;
    links.push({ text: link.text, url: link.url });
    at = link.end;
  }
  return links;
}
