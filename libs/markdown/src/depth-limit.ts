import type { MarkdownIt } from 'markdown-it';

const MAX_BLOCK_LEVEL = 40;

/** Below the deepest permitted quote or list the rest is plain text: bounded work, and nothing gets lost. */
export function depthLimit(md: MarkdownIt): void {
  md.block.ruler.before('table', 'depth_limit', (state, startLine, endLine, silent) => {
    if (state.level < MAX_BLOCK_LEVEL || silent) return false;
    state.push('paragraph_open', 'p', 1).map = [startLine, endLine];
    const inline = state.push('inline', '', 0);
    inline.content = state.getLines(startLine, endLine, state.blkIndent, false).trim();
    inline.map = [startLine, endLine];
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
    state.line = endLine;
    return true;
  });
}
