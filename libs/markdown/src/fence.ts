import type { MarkdownIt, StateBlock } from 'markdown-it';

const FENCE = /^(`{3,}|~{3,})[ \t]*(.*)$/;
const CLASS_BRACES = /^\{\s*\.?([^}\s]*)\s*\}/;

interface Opening {
  marker: string;
  word: string;
  rest: string;
}

/**
 * Fenced blocks. `quote` and `spoiler` hold Markdown, so inside them a fence that names a language opens a nested
 * block and a bare one closes the innermost; all others hold text up to their own closing fence.
 */
export function fence(md: MarkdownIt): void {
  md.block.ruler.at(
    'fence',
    (state, startLine, endLine, silent) => {
      if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
      const opening = openingAt(state, startLine);
      if (opening === undefined) return false;
      if (silent) return true;
      const { contentEnd, nextLine } = extent(state, startLine, endLine, opening);
      if (holdsMarkdown(opening)) pushContainer(state, opening, startLine, contentEnd);
      else pushText(state, opening, startLine, contentEnd);
      state.line = nextLine;
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  );
}

function openingAt(state: StateBlock, line: number): Opening | undefined {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const first = state.src[start];
  if (first !== '`' && first !== '~') return undefined;
  const match = FENCE.exec(state.src.slice(start, state.eMarks[line]));
  const [marker, info] = [match?.[1], match?.[2]?.trim()];
  if (marker === undefined || info === undefined || (first === '`' && info.includes('`'))) return undefined;
  const braced = CLASS_BRACES.exec(info)?.[1];
  const word = braced ?? info.split(/\s/, 1)[0] ?? '';
  return { marker, word, rest: braced === undefined ? info.slice(word.length).trim() : '' };
}

function holdsMarkdown({ word }: Opening): boolean {
  return word === 'quote' || word === 'quoted' || word === 'spoiler';
}

function closes(open: Opening, line: Opening): boolean {
  return (
    line.word === '' &&
    line.rest === '' &&
    line.marker[0] === open.marker[0] &&
    line.marker.length >= open.marker.length
  );
}

interface Extent {
  /** The line after the last line inside. */
  contentEnd: number;
  /** The line after the closing fence, if there is one. */
  nextLine: number;
}

/** An unclosed fence holds everything up to the end of the block around it. */
function extent(state: StateBlock, startLine: number, endLine: number, opening: Opening): Extent {
  const open = [opening];
  for (let line = startLine + 1; line < endLine; line++) {
    const innermost = open.at(-1);
    const isOutside = !state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent;
    if (innermost === undefined || isOutside) return { contentEnd: line, nextLine: line };
    const found = openingAt(state, line);
    if (found === undefined) continue;
    if (closes(innermost, found)) {
      open.pop();
      if (open.length === 0) return { contentEnd: line, nextLine: line + 1 };
    } else if (holdsMarkdown(innermost) && found.word !== '') open.push(found);
  }
  return { contentEnd: endLine, nextLine: endLine };
}

function pushText(state: StateBlock, opening: Opening, startLine: number, contentEnd: number): void {
  const token = state.push(opening.word === 'math' ? 'math_block' : 'fence', 'code', 0);
  token.info = opening.word;
  token.markup = opening.marker;
  token.content = state.getLines(startLine + 1, contentEnd, state.sCount[startLine] ?? 0, true);
  token.map = [startLine, contentEnd];
}

function pushContainer(state: StateBlock, opening: Opening, startLine: number, contentEnd: number): void {
  const isSpoiler = opening.word === 'spoiler';
  const open = state.push(isSpoiler ? 'spoiler_open' : 'blockquote_open', isSpoiler ? 'div' : 'blockquote', 1);
  open.map = [startLine, contentEnd];
  if (isSpoiler) pushSpoilerHeader(state, opening.rest, startLine);
  const outer = { lineMax: state.lineMax, parentType: state.parentType };
  state.lineMax = contentEnd;
  state.parentType = 'blockquote';
  state.md.block.tokenize(state, startLine + 1, contentEnd);
  state.lineMax = outer.lineMax;
  state.parentType = outer.parentType;
  state.push(isSpoiler ? 'spoiler_close' : 'blockquote_close', isSpoiler ? 'div' : 'blockquote', -1);
}

function pushSpoilerHeader(state: StateBlock, header: string, line: number): void {
  if (header !== '') {
    state.push('paragraph_open', 'p', 1);
    const inline = state.push('inline', '', 0);
    inline.content = header;
    inline.map = [line, line + 1];
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
  }
  state.push('spoiler_body', 'div', 0);
}
