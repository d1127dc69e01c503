import { append, type Block, block } from './block.ts';
import type { BlockParser } from './block-parser.ts';
import { silenced } from './mention.ts';

const CODE_INDENT = '    ';

const lastCode = (parent: Block): Block | undefined => {
  const last = parent.children.at(-1);
  return last?.tag === 'pre' ? last : undefined;
};

/** Blank lines; inside indented code they are kept. */
export function empty(_parser: BlockParser, parent: Block, content: string, rest: string[]): boolean {
  if (content !== '' && !content.startsWith('\n')) return false;
  if (content.length > 1) rest.push(content.slice(1));
  const code = lastCode(parent);
  if (code) code.text += content === '' ? '\n\n' : '\n';
  return true;
}

/** Lines indented by four spaces are code. */
export function code(_parser: BlockParser, parent: Block, content: string, rest: string[]): boolean {
  if (!content.startsWith(CODE_INDENT)) return false;
  const lines = content.split('\n');
  const end = lines.findIndex((line) => !line.startsWith(CODE_INDENT) && line.trim() !== '');
  const inside = end < 0 ? lines : lines.slice(0, end);
  const text = inside
    .map((line) => line.slice(CODE_INDENT.length))
    .join('\n')
    .trimEnd();
  const before = lastCode(parent);
  if (before) before.text += `\n${text}\n`;
  else append(parent, block('pre', `${text}\n`));
  if (end >= 0) rest.push(lines.slice(end).join('\n'));
  return true;
}

const HEADING = /(?:^|\n)(#{1,6})\s([^\n]*)(?:\n|$)/;

/** A line that starts with one to six number signs and a space. */
export function heading(parser: BlockParser, parent: Block, content: string, rest: string[]): boolean {
  const match = content.includes('#') ? HEADING.exec(content) : null;
  if (match === null) return false;
  const [whole, signs = '', title = ''] = match;
  const before = content.slice(0, match.index);
  if (before !== '') parser.parse(parent, [before]);
  append(parent, block(`h${signs.length}`, withoutClosing(title).trim()));
  const after = content.slice(match.index + whole.length);
  if (after !== '') rest.push(after);
  return true;
}

function withoutClosing(title: string): string {
  let end = title.length;
  while (title[end - 1] === '#') end--;
  // A backslash escapes the character after it.
  return title.slice(0, end < title.length && title[end - 1] === '\\' ? end + 1 : end);
}

/** A line of at least three equal marks, with at most two spaces between them. */
export function rule(parser: BlockParser, parent: Block, content: string, rest: string[]): boolean {
  const lines = content.split('\n');
  const at = lines.findIndex(isRule);
  if (at < 0) return false;
  const before = lines.slice(0, at).join('\n');
  if (before !== '') parser.parse(parent, [before]);
  append(parent, block('hr'));
  const after = lines
    .slice(at + 1)
    .join('\n')
    .replace(/^\n+/, '');
  if (after !== '') rest.push(after);
  return true;
}

function isRule(line: string): boolean {
  const marks = line.trim();
  const [mark = ''] = marks;
  if (!'-_*'.includes(mark) || mark === '' || line.search(/\S/) > 3 || marks.includes('   ')) return false;
  const only = marks.replaceAll(' ', '');
  return only.length >= 3 && only === mark.repeat(only.length);
}

const QUOTED_LINE = /^ {0,3}> ?(.*)$/;

/** Lines after a `>` belong to the quote until a blank line. A quote that contains only blank lines is plain text. */
export function quote(parser: BlockParser, parent: Block, content: string): boolean {
  const lines = content.split('\n');
  const start = firstQuoted(lines);
  if (start < 0) return false;
  parser.parse(parent, [lines.slice(0, start).join('\n')]);
  const inside = lines.slice(start).map(silenced).map(unquoted).join('\n');
  const made = append(parent, block('blockquote'));
  parser.within('blockquote', () => parser.parseText(made, inside));
  return true;
}

/** The first quoted line after which not all lines are empty quotes. */
function firstQuoted(lines: readonly string[]): number {
  const last = lines.findLastIndex((line) => !/^ {0,3}>\s*$/.test(line));
  return lines.slice(0, last + 1).findIndex((line) => QUOTED_LINE.test(line));
}

function unquoted(line: string): string {
  return line.trim() === '>' ? '' : (QUOTED_LINE.exec(line)?.[1] ?? line);
}

export function paragraph(parser: BlockParser, parent: Block, content: string): boolean {
  // A newline at the end becomes a line break, as at the end of a quote.
  const text = content.trimStart();
  if (text === '') return true;
  const last = parent.children.at(-1);
  if (!parser.isIn('list')) append(parent, block('p', text));
  else if (last) last.tail = `${last.tail}\n${content}`;
  else parent.text = parent.text === '' ? text : `${parent.text}\n${text}`;
  return true;
}
