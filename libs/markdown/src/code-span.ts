import type { InlineRule } from './inline.ts';
import { element, text } from './node.ts';

/**
 * Code between two backtick runs of equal length, including its blanks. If no later run has the same length, the
 * opening run is shortened to a length that has one. A backslash before a run removes its first backtick.
 */
export const codeSpan: InlineRule = (content, inline) => {
  if (!content.includes('`')) return content;
  const runs = [...content.matchAll(/`+/g)].map((match) => ({ start: match.index, length: match[0].length }));
  const startsByLength = Map.groupBy(runs, ({ length }) => length);
  const closing = (length: number, from: number): number | undefined => {
    const starts = startsByLength.get(length) ?? [];
    while (starts[0] && starts[0].start < from) starts.shift();
    return starts[0]?.start;
  };
  let result = '';
  let at = 0;
  for (const { start, length } of runs) {
    if (start < at) continue;
    const escapes = backslashesBefore(content, start);
    const isEscaped = escapes % 2 === 1;
    const open = isEscaped ? start + 1 : start;
    const available = isEscaped ? length - 1 : length;
    let end: number | undefined;
    let size = available;
    for (; size > 0 && end === undefined; size--) end = closing(size, start + length);
    // An even number of backslashes produces half of them.
    const before = content.slice(at, start - (isEscaped ? 0 : escapes / 2));
    if (end === undefined) {
      result += before + content.slice(start, start + length);
      at = start + length;
      continue;
    }
    const marker = size + 1;
    const code = content.slice(open + marker, end);
    result += before + content.slice(start, open);
    result += inline.mark([element('code', {}, [text(inline.source(code))])], content.slice(open, end + marker));
    at = end + marker;
  }
  return result + content.slice(at);
};

function backslashesBefore(content: string, at: number): number {
  let count = 0;
  while (content[at - 1 - count] === '\\') count++;
  return count;
}
