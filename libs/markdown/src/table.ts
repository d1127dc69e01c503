import type { MarkdownIt } from 'markdown-it';

/** Column alignment as a style clients know. */
export function table(md: MarkdownIt): void {
  md.core.ruler.after('block', 'table_align', (state) => {
    for (const token of state.tokens) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue;
      const style = token.attrGet('style');
      if (typeof style === 'string') token.attrSet('style', `${style.replace(':', ': ')};`);
    }
  });
}
