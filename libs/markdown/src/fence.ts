const FENCE = /^(?:`{3,}|~{3,})/;
const LANGUAGE = /^\{?\.?([a-zA-Z0-9_+,\-./#]+)/;

export interface Fence {
  marker: string;
  /** The named language of the code, or ''. */
  language: string;
  header: string;
}

/** The opening or closing line of a fenced block: no leading space, and no fence marker in the rest of the line. */
export function fenceAt(line: string): Fence | undefined {
  const marker = FENCE.exec(line)?.[0];
  if (marker === undefined) return undefined;
  const info = line.slice(marker.length).trim();
  if (info.includes('`') || info.includes('~')) return undefined;
  if (info === '') return { marker, language: '', header: '' };
  const match = LANGUAGE.exec(info);
  if (match === null) return undefined;
  return { marker, language: match[1] ?? '', header: info.slice(match[0].length).trim() };
}

const isQuote = (language: string): boolean => /^quoted?$/i.test(language);
const isMath = ({ language }: Fence): boolean => language.toLowerCase() === 'math';
const isSpoiler = (language: string): boolean => /^spoiler$/i.test(language);

/** Whether its content is Markdown. */
export const holdsMarkdown = ({ language }: Fence): boolean => isQuote(language) || isSpoiler(language);

/** Maximum nesting of quotes and spoilers; each level copies its lines. */
const MAX_OPEN = 20;

interface Open {
  fence: Fence;
  lines: string[];
}

/** Renders fenced blocks; each function returns a mark that represents the HTML. */
export interface FencedHtml {
  code(text: string, language: string): string;
  math(text: string): string;
  raw(html: string): string;
}

/**
 * Replaces fenced blocks. A fence ends at a line that is exactly its marker, or at the end of the text. Quotes and
 * spoilers contain Markdown, so they may contain other fences; a quote becomes lines that start with `>`.
 */
export function withoutFences(lines: readonly string[], defaultLanguage: string, html: FencedHtml): string[] {
  const output: string[] = [];
  const open: Open[] = [];
  const target = (): string[] => open.at(-1)?.lines ?? output;
  const close = (): void => {
    const ended = open.pop();
    if (ended) target().push('', ...rendered(ended, html), '');
  };
  for (const line of lines) {
    const inner = open.at(-1);
    if (inner && line.trimEnd() === inner.fence.marker) close();
    else if (inner && !holdsMarkdown(inner.fence)) inner.lines.push(isMath(inner.fence) ? line : line.trimEnd());
    else {
      const fence = open.length < MAX_OPEN ? fenceAt(line) : undefined;
      if (fence) open.push({ fence: { ...fence, language: fence.language || defaultLanguage }, lines: [] });
      else target().push(line);
    }
  }
  while (open.length > 0) close();
  // A fence that is not closed is followed by a blank line too.
  if (output.length > 2 && output.at(-2) !== '') output.push('');
  return output;
}

function rendered({ fence, lines }: Open, html: FencedHtml): string[] {
  const { language, header } = fence;
  if (isQuote(language)) return lines.map((line) => `> ${line}`);
  if (isSpoiler(language))
    return [
      html.raw('<div class="spoiler-block"><div class="spoiler-header">'),
      '',
      header,
      '',
      html.raw('</div><div class="spoiler-content" aria-hidden="true">'),
      '',
      ...lines,
      '',
      html.raw('</div></div>'),
    ];
  const text = lines.join('\n');
  return [isMath(fence) ? html.math(text) : html.code(text, language)];
}
