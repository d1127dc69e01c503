import type { RenderRun } from './context.ts';
import { heavy } from './heavy.ts';
import type { InlineRule } from './inline.ts';
import { element, escapeHtml, raw, text } from './node.ts';

/** No newline, no bare dollar sign inside, and no word character directly outside. */
const INLINE = /(?<![\p{L}\p{N}_$])\$\$([^\n$_](?:\\\$|[^\n$])*)\$\$(?![\p{L}\p{N}_$])/gu;
const MAX_TEX_LENGTH = 2000;
/** Limit for one formula: a matrix of 2,000 characters produces 4.7 million characters of HTML. */
const MAX_HTML_LENGTH = 128 * 1024;
/** Commands that print to the console, which is the log of a service. */
const PRINTING = ['\\message', '\\errmessage', '\\show'];

/** Renders `$$…$$` in a line of text. */
export const math: InlineRule = (content, inline) =>
  content.includes('$$')
    ? content.replace(INLINE, (whole, body: string) => {
        const tex = inline.source(body);
        const html = typeset(tex, false, inline.run);
        const node = html === undefined ? element('span', { class: 'tex-error' }, [text(`$$${tex}$$`)]) : raw(html);
        return inline.mark([node], whole);
      })
    : content;

/** Formulas in display style, separated by blank lines; they share a paragraph. */
export function mathBlock(source: string, run: RenderRun): string {
  return source
    .split('\n\n')
    .map((tex) => typeset(tex, true, run) ?? `<span class="tex-error">${escapeHtml(tex)}</span>`)
    .join('\n\n');
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
      // A formula may define macros, so each gets its own table.
      macros: Object.fromEntries(PRINTING.map((name) => [name, '\\relax'])),
    });
    return html.length > MAX_HTML_LENGTH ? undefined : html;
  } catch {
    // Invalid or hostile source is shown as typed.
    return undefined;
  }
}
