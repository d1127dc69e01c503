import { append, type Block, block, wrapText } from './block.ts';
import type { BlockParser, BlockRule } from './block-parser.ts';

/** Two spaces of indentation nest below any marker. */
const INDENT = '  ';
const NESTED_ITEM = /^ {2,3}(?:\d+\.|[*+-]) /;
const LEADING_INDENT = /^(?: {2})+/;

interface Kind {
  tag: 'ol' | 'ul';
  marker: RegExp;
}

const isList = (tag: string | undefined): boolean => tag === 'ol' || tag === 'ul';
const isItemOrList = (tag: string | undefined): boolean => tag === 'li' || isList(tag);

export const orderedList: BlockRule = listOf({ tag: 'ol', marker: /^ ?(\d+)\. +(?! )(.*)$/ });
export const unorderedList: BlockRule = listOf({ tag: 'ul', marker: /^ ?([*+-]) +(?! )(.*)$/ });

/** A list of one kind. A list of the same kind after a blank line continues it, with paragraphs in its items. */
function listOf(kind: Kind): BlockRule {
  return (parser, parent, content) => {
    const firstLine = content.split('\n', 1)[0] ?? '';
    const first = kind.marker.exec(firstLine);
    if (first === null) return false;
    const items = itemsOf(content, kind);
    const last = parent.children.at(-1);
    let list: Block;
    if (last?.tag === kind.tag) {
      list = last;
      continueList(parser, list, items.shift() ?? '');
    } else if (isList(parent.tag)) list = parent;
    else {
      const start = kind.tag === 'ol' && first[1] !== '1' ? { start: first[1] ?? '' } : {};
      list = append(parent, block(kind.tag, '', start));
    }
    parser.within('list', () => {
      for (const item of items) {
        const of = list.children.at(-1);
        parser.parse(item.startsWith(INDENT) && of ? of : append(list, block('li')), [item]);
      }
    });
    return true;
  };
}

function continueList(parser: BlockParser, list: Block, firstItem: string): void {
  const previous = list.children.at(-1);
  if (previous) {
    wrapText(previous);
    const last = previous.children.at(-1);
    if (last && last.tail !== '') {
      append(previous, block('p', last.tail.trimStart()));
      last.tail = '';
    }
  }
  const item = append(list, block('li'));
  parser.within('looselist', () => parser.parse(item, [firstItem]));
}

/** The texts of the items without their markers; nested items keep their indentation. */
function itemsOf(content: string, { marker }: Kind): string[] {
  const items: string[][] = [];
  for (const line of content.split('\n')) {
    const match = marker.exec(line);
    const last = items.at(-1);
    if (match) items.push([match[2] ?? '']);
    else if (last === undefined || (NESTED_ITEM.test(line) && !last[0]?.startsWith(INDENT))) items.push([line]);
    else last.push(line);
  }
  return items.map((lines) => lines.join('\n'));
}

/** Indented text below a list belongs to its last item at that level. */
export const indentedInList: BlockRule = (parser, parent, content) => {
  if (!content.startsWith(INDENT) || parser.isIn('detabbed')) return false;
  if (parent.tag !== 'li' && !isList(parent.children.at(-1)?.tag)) return false;
  const { level, at } = levelOf(parser, parent, content);
  const inner = withoutIndent(content, level);
  parser.within('detabbed', () => {
    const last = at.children.at(-1);
    if (parent.tag === 'li') parser.parse(isList(parent.children.at(-1)?.tag) ? lastOf(parent) : parent, [inner]);
    else if (at.tag === 'li') parser.parse(at, [inner]);
    else if (last?.tag === 'li') {
      wrapText(last);
      parser.parseText(last, inner);
    } else parser.parse(append(at, block('li')), [inner]);
  });
  return true;
};

const lastOf = (parent: Block): Block => parent.children.at(-1) ?? parent;

/** The deepest existing list level for the indentation, and the block of that level. */
function levelOf(parser: BlockParser, parent: Block, content: string): { level: number; at: Block } {
  const indent = (LEADING_INDENT.exec(content)?.[0].length ?? 0) / INDENT.length;
  let level = parser.isIn('list') ? 1 : 0;
  let at = parent;
  while (indent > level) {
    const child = at.children.at(-1);
    if (child === undefined || !isItemOrList(child.tag)) break;
    if (isList(child.tag)) level++;
    at = child;
  }
  return { level, at };
}

function withoutIndent(content: string, level: number): string {
  const indent = INDENT.repeat(level);
  return content
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n');
}
