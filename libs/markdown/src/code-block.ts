import type { MarkdownIt } from 'markdown-it';
import { languageName } from './code-language.ts';
import { runOf } from './context.ts';
import { highlight } from './highlight.ts';
import { onOwnLine } from './own-line.ts';

/** Fenced and indented code. Only a fence without a language takes the realm's default language. */
export function codeBlock(md: MarkdownIt): void {
  const html = (code: string, language: string): string => {
    const name = languageName(language);
    const attribute = name === '' ? '' : ` data-code-language="${md.utils.escapeHtml(name)}"`;
    const body = (language === '' ? undefined : highlight(code, language)) ?? md.utils.escapeHtml(code);
    return `<div class="codehilite"${attribute}><pre><span></span><code>${body}</code></pre></div>\n`;
  };
  md.renderer.rules.fence = (tokens, index, _options, env) => {
    const token = tokens[index];
    const code = token?.content ?? '';
    const language = token?.info || runOf(env).context.defaultCodeLanguage;
    return onOwnLine(tokens, index, html(code.endsWith('\n') ? code : `${code}\n`, language));
  };
  md.renderer.rules.code_block = (tokens, index) => {
    const code = tokens[index]?.content ?? '';
    return onOwnLine(tokens, index, html(code.endsWith('\n') ? code : `${code}\n`, ''));
  };
}
