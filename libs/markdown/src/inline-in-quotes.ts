import type { MarkdownIt } from 'markdown-it';
import { runOf } from './context.ts';

/** Parses inline content as markdown-it does, telling the inline rules how many quotes are around it. */
export function inlineInQuotes(md: MarkdownIt): void {
  md.core.ruler.at('inline', (state) => {
    const run = runOf(state.env);
    run.quoteDepth = 0;
    for (const token of state.tokens) {
      if (token.type === 'blockquote_open') run.quoteDepth++;
      else if (token.type === 'blockquote_close') run.quoteDepth--;
      else if (token.type === 'inline') {
        token.children = [];
        md.inline.parse(token.content, md, state.env, token.children);
      }
    }
  });
}
