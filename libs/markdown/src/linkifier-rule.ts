import { entity } from './entity.ts';
import type { InlineRule } from './inline.ts';
import { findMatches } from './linkifier.ts';
import { element } from './node.ts';
import { MARK_START } from './source.ts';
import { relativeUrl, safeTarget } from './url.ts';

/** Applies the realm's linkifiers in order: a later one does not see the matches of an earlier one. */
export const linkifiers: InlineRule = (content, inline) => {
  const { run } = inline;
  let current = content;
  for (const linkifier of run.context.linkifiers) {
    let result = '';
    let at = 0;
    for (const { start, end, url } of findMatches(current, linkifier, run)) {
      const shown = current.slice(start, end);
      const href = safeTarget(url);
      if (start < at || href === undefined || shown.includes(MARK_START)) continue;
      const link = element(
        'a',
        { href: relativeUrl(href, run.context.realmUrl) },
        inline.expand(entity(shown, inline)),
      );
      result += current.slice(at, start) + inline.mark([link], shown);
      at = end;
    }
    current = result + current.slice(at);
  }
  return current;
};
