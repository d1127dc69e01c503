/** A block under construction: `text` precedes the children, `tail` follows the block. Both are inline markup. */
export interface Block {
  tag: string;
  attributes: Record<string, string>;
  text: string;
  children: Block[];
  tail: string;
}

export const block = (tag: string, content = '', attributes: Record<string, string> = {}): Block => ({
  tag,
  attributes,
  text: content,
  children: [],
  tail: '',
});

/** Adds a block at the end of another one. */
export function append(parent: Block, child: Block): Block {
  parent.children.push(child);
  return child;
}

/** Puts the text of a list item into a paragraph before its other children. */
export function wrapText(item: Block): void {
  if (item.text === '') return;
  item.children.unshift(block('p', item.text));
  item.text = '';
}
