import type { InlineRule } from './inline.ts';
import { element } from './node.ts';
import { spend } from './steps.ts';

const STRONG_EMPHASIS = /\*\*\*(?!\s)([^*^\n]+)(?<!\s)\*\*\*/g;
const STRONG = /\*\*([^\n]+?)\*\*/g;
const EMPHASIS = /\*(?!\s)([^*^\n]+)(?<!\s)\*/g;
const DELETED = /(?<!~)~~([^~\n]+?)~~(?!~)/g;

export const strongEmphasis: InlineRule = (content, inline, next) =>
  content.replace(STRONG_EMPHASIS, (whole, inner: string) =>
    inline.mark([element('strong', {}, [element('em', {}, inline.parse(inner, next))])], whole),
  );

/** `**text**` on one line. The text may contain spaces. */
export const strong: InlineRule = (content, inline, next) =>
  content.replace(STRONG, (whole, inner: string) =>
    inline.mark([element('strong', {}, inline.parse(inner, next))], whole),
  );

/** From the inside out, because emphasis may contain emphasis. */
export const emphasis: InlineRule = (content, inline, next) => {
  let current = content;
  let from = 0;
  for (;;) {
    EMPHASIS.lastIndex = from;
    const match = EMPHASIS.exec(current);
    if (match === null) return current;
    const [whole, inner = ''] = match;
    const mark = inline.mark([element('em', {}, inline.parse(inner, next))], whole);
    current = current.slice(0, match.index) + mark + current.slice(match.index + whole.length);
    from = match.index === 0 ? 0 : Math.max(0, current.lastIndexOf('*', match.index - 1));
    spend(inline.run, current.length - from);
  }
};

export const deleted: InlineRule = (content, inline, next) =>
  content.replace(DELETED, (whole, inner: string) =>
    inline.mark([element('del', {}, inline.parse(inner, next))], whole),
  );
