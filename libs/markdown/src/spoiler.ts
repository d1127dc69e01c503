import type { MarkdownIt } from 'markdown-it';
import { onOwnLine } from './own-line.ts';

/** How the tokens of a ```spoiler fence (fence.ts) look. */
export function spoiler(md: MarkdownIt): void {
  md.renderer.rules.spoiler_open = (tokens, index) =>
    onOwnLine(tokens, index, '<div class="spoiler-block"><div class="spoiler-header">\n');
  md.renderer.rules.spoiler_body = () => '</div><div class="spoiler-content" aria-hidden="true">\n';
  md.renderer.rules.spoiler_close = () => '</div></div>\n';
}
