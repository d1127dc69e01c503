import type { InlineRule } from './inline.ts';
import { element, text } from './node.ts';
import { parseTime } from './parse-time.ts';

const OPEN = '<time:';

/** `<time:…>`: an instant that every reader sees in their own time zone. */
export const timestamp: InlineRule = (content, inline) => {
  let result = '';
  let at = 0;
  for (;;) {
    const start = content.indexOf(OPEN, at);
    const end = start < 0 ? -1 : content.indexOf('>', start);
    if (end < 0) return result + content.slice(at);
    const source = inline.source(content.slice(start + OPEN.length, end));
    result += content.slice(at, start) + inline.mark([shown(source)], content.slice(start, end + 1));
    at = end + 1;
  }
};

function shown(source: string) {
  const instant = parseTime(source.trim());
  if (instant === undefined)
    return element('span', { class: 'timestamp-error' }, [text(`Invalid time format: ${source}`)]);
  return element('time', { datetime: instant.toISOString().replace('.000Z', 'Z') }, [text(source)]);
}
