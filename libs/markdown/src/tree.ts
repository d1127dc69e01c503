import type { Block } from './block.ts';
import { indentedHtml } from './code-html.ts';
import type { Inline } from './inline.ts';
import { type Element, element, isBlock, type Node, raw, text } from './node.ts';

/** Parses the inline markup of the whole text. Each block is written on its own lines. */
export function treeOf(root: Block, inline: Inline): Element {
  return element(
    'div',
    {},
    root.children.flatMap((child) => nodesOf(child, inline)),
  );
}

function nodesOf(block: Block, inline: Inline): Node[] {
  const tail = inline.parse(block.tail);
  const after = block.tail.trim() === '' ? [text('\n')] : tail;
  if (block.tag === 'pre') return [raw(`${indentedHtml(block.text)}\n`), ...after];
  if (block.tag === 'p') {
    const marked = inline.blockIn(block.text);
    if (marked) return [...marked, ...after];
  }
  const own = inline.parse(block.text);
  const children = block.children.flatMap((child) => nodesOf(child, inline));
  const startsWithBlock = block.text.trim() === '' && isBlock(block.children[0]?.tag ?? '');
  return [element(block.tag, block.attributes, [...(startsWithBlock ? [text('\n')] : own), ...children]), ...after];
}
