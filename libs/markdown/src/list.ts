import type { MarkdownIt, StateBlock, Token } from 'markdown-it';

const NESTED_INDENT = 2;
const ORDERED_MARKER = /^\d{1,9}[.)](?=[ \t]|$)[ \t]?/;
const MARKER = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;

/** Two spaces nest below any marker, and bullets of different kinds make one list. */
export function list(md: MarkdownIt): void {
  md.block.ruler.before('list', 'ordered_indent', (state, startLine, endLine, silent) => {
    if (!silent) widenNestedIndent(state, startLine, endLine);
    return false;
  });
  md.core.ruler.after('block', 'merge_bullets', (state) => {
    state.tokens = mergeBullets(state.tokens);
  });
}

/** markdown-it wants nested lines below the item's text (three columns for "1. "); two are promised. */
function widenNestedIndent(state: StateBlock, startLine: number, endLine: number): void {
  const base = state.sCount[startLine] ?? 0;
  const width = ORDERED_MARKER.exec(lineText(state, startLine))?.[0].length;
  if (width === undefined || width <= NESTED_INDENT) return;
  let nested: number[] = [];
  for (let line = startLine + 1; line <= endLine; line++) {
    const indent = line < endLine ? (state.sCount[line] ?? 0) - base : 0;
    if (line < endLine && state.isEmpty(line)) continue;
    if (indent >= NESTED_INDENT) {
      nested.push(line);
      continue;
    }
    const first = nested[0];
    const needsMore =
      first !== undefined && (state.sCount[first] ?? 0) - base === NESTED_INDENT && MARKER.test(lineText(state, first));
    if (needsMore) for (const at of nested) state.sCount[at] = (state.sCount[at] ?? 0) + width - NESTED_INDENT;
    nested = [];
    if (line >= endLine || indent < 0 || !ORDERED_MARKER.test(lineText(state, line))) return;
  }
}

function lineText(state: StateBlock, line: number): string {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  return state.src.slice(start, Math.min(start + 12, state.eMarks[line] ?? start));
}

function mergeBullets(tokens: Token[]): Token[] {
  const merged: Token[] = [];
  for (const token of tokens) {
    if (token.type === 'bullet_list_open' && merged.at(-1)?.type === 'bullet_list_close') merged.pop();
    else merged.push(token);
  }
  return merged;
}
