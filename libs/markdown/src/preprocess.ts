import { fenceAt, holdsMarkdown } from './fence.ts';
import { markdownSource } from './source.ts';

const ITEM = /^ *([*+-]|\d\.) +/;
const TAB_WIDTH = 4;

/** Inserts a blank line before a list that follows text, or a list of the other kind. */
export function separateLists(lines: readonly string[]): string[] {
  const separated: string[] = [];
  const open: { marker: string; isCode: boolean }[] = [];
  let codeDepth = 0;
  for (const [i, line] of lines.entries()) {
    separated.push(line);
    const fence = fenceAt(line);
    if (fence) {
      const closes = fence.language === '' && open.at(-1)?.marker === fence.marker;
      if (closes) codeDepth -= open.pop()?.isCode ? 1 : 0;
      else {
        open.push({ marker: fence.marker, isCode: !holdsMarkdown(fence) });
        codeDepth += holdsMarkdown(fence) ? 0 : 1;
      }
    }
    const next = ITEM.exec(lines[i + 1] ?? '')?.[1];
    if (codeDepth > 0 || line === '' || next === undefined) continue;
    const here = ITEM.exec(line)?.[1];
    if (here === undefined || (here.length === 1) !== (next.length === 1)) separated.push('');
  }
  return separated;
}

/** Two newlines end the text, so that every block ends with a blank line. */
export function linesOf(content: string): string[] {
  return markdownSource(content).concat('\n\n').split('\n');
}

/** Replaces tabs by spaces, and removes spaces from blank lines. */
export const normalized = (line: string): string => {
  const spaced = line.includes('\t') ? expandTabs(line) : line;
  return /^ +$/.test(spaced) ? '' : spaced;
};

function expandTabs(line: string): string {
  const [first = '', ...others] = line.split('\t');
  return others.reduce((before, after) => before + ' '.repeat(TAB_WIDTH - (before.length % TAB_WIDTH)) + after, first);
}
