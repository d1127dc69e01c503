import type { MarkdownIt } from 'markdown-it';
import { type RenderRun, runOf } from './context.ts';
import { heavy } from './heavy.ts';
import { onOwnLine } from './own-line.ts';

/** No newline, no bare dollar sign inside, and no word directly outside. */
const INLINE = /\$\$((?:\\\$|[^\n$_])(?:\\\$|[^\n$])*)\$\$(?![\w$])/y;
const WORD_OR_DOLLAR = /[\w$]/;
const MAX_TEX_LENGTH = 2000;
/** Of one formula: a matrix of 2,000 characters makes 4.7 million of HTML. */
const MAX_HTML_LENGTH = 128 * 1024;
/** Commands that write to the terminal, which here is the log of a service. */
const PRINTING = ['\\message', '\\errmessage', '\\show'];

/** `$$…$$` in text, and ```math blocks in display style. */
export function math(md: MarkdownIt): void {
  md.inline.ruler.before('escape', 'math_inline', (state, silent) => {
    if (!state.src.startsWith('$$', state.pos)) return false;
    if (state.pos > 0 && WORD_OR_DOLLAR.test(state.src[state.pos - 1] ?? '')) return false;
    INLINE.lastIndex = state.pos;
    const match = INLINE.exec(state.src);
    if (match === null || INLINE.lastIndex > state.posMax) return false;
    if (!silent) state.push('math_inline', '', 0).content = match[1] ?? '';
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.math_inline = (tokens, index, _options, env) => {
    const tex = tokens[index]?.content ?? '';
    return typeset(tex, false, runOf(env)) ?? `<span class="tex-error">$$${md.utils.escapeHtml(tex)}$$</span>`;
  };
  md.renderer.rules.math_block = (tokens, index, _options, env) => {
    const source = (tokens[index]?.content ?? '').trim();
    const paragraphs = source.split(/\n{2,}/).map((tex) => {
      const html = typeset(tex, true, runOf(env)) ?? `<span class="tex-error">${md.utils.escapeHtml(tex)}</span>`;
      return `<p>${html}</p>`;
    });
    return onOwnLine(tokens, index, `${paragraphs.join('\n')}\n`);
  };
}

function typeset(tex: string, displayMode: boolean, run: RenderRun): string | undefined {
  const katex = heavy.typesetter;
  if (katex === undefined || run.formulasLeft <= 0 || tex.length > MAX_TEX_LENGTH) return undefined;
  run.formulasLeft--;
  try {
    const html = katex.renderToString(tex, {
      displayMode,
      throwOnError: true,
      strict: 'ignore',
      trust: false,
      maxSize: 20,
      maxExpand: 200,
      // A formula may define macros, so each gets its own.
      macros: Object.fromEntries(PRINTING.map((name) => [name, '\\relax'])),
    });
    return html.length > MAX_HTML_LENGTH ? undefined : html;
  } catch {
    // Faulty or hostile source: the reader sees it as it was typed.
    return undefined;
  }
}
