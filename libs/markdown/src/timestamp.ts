import type { MarkdownIt } from 'markdown-it';
import { parseTime } from './parse-time.ts';

const TIME = /<time:([^>\n]{1,200})>/y;

/** `<time:…>`: an instant every reader sees in their own zone. */
export function timestamp(md: MarkdownIt): void {
  md.inline.ruler.before('autolink', 'timestamp', (state, silent) => {
    if (!state.src.startsWith('<time:', state.pos)) return false;
    TIME.lastIndex = state.pos;
    const match = TIME.exec(state.src);
    if (match === null || TIME.lastIndex > state.posMax) return false;
    if (!silent) state.push('timestamp', 'time', 0).content = match[1] ?? '';
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.timestamp = (tokens, index) => {
    const source = tokens[index]?.content ?? '';
    const text = md.utils.escapeHtml(source);
    const instant = parseTime(source.trim());
    if (instant === undefined) return `<span class="timestamp-error">Invalid time format: ${text}</span>`;
    return `<time datetime="${instant.toISOString().replace('.000Z', 'Z')}">${text}</time>`;
  };
}
