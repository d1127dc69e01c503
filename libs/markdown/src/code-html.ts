import { languageName } from './code-language.ts';
import { highlight } from './highlight.ts';
import { escapeHtml } from './node.ts';

/** The first line of code may name its language: `#!python`, `#!/usr/bin/env python`, `:::python`. */
const FIRST_LINE = /^(?:#!|:{2,})(?:(?:\/\w+)*[/ ])?([\w#.+-]+)/;

/** A fenced block, highlighted in the language that its fence or its first line names. */
export function fencedHtml(content: string, language: string): string {
  const code = codeOf(content);
  const named = language === '' ? FIRST_LINE.exec(code)?.[1] : language;
  return wrapped((named === undefined ? undefined : highlight(code, named)) ?? escapeHtml(code), language);
}

/** Indented code, which is never highlighted, because it is rendered on the main thread too. */
export const indentedHtml = (content: string): string => wrapped(escapeHtml(codeOf(content)), '');

function wrapped(body: string, language: string): string {
  const attribute = language === '' ? '' : ` data-code-language="${escapeHtml(languageName(language))}"`;
  return `<div class="codehilite"${attribute}><pre><span></span><code>${body}</code></pre></div>`;
}

const codeOf = (content: string): string => `${withoutBlankEnds(content)}\n`;

function withoutBlankEnds(content: string): string {
  let [start, end] = [0, content.length];
  while (content[start] === '\n') start++;
  while (end > start && content[end - 1] === '\n') end--;
  return content.slice(start, end);
}
