/** The tree that a text is parsed into, and its HTML. */
export type Node = Text | Raw | Element;

export interface Text {
  kind: 'text';
  text: string;
}

/** HTML that is written unchanged. */
export interface Raw {
  kind: 'raw';
  html: string;
}

export interface Element {
  kind: 'element';
  tag: string;
  attributes: Record<string, string>;
  children: Node[];
}

export const text = (content: string): Text => ({ kind: 'text', text: content });
export const raw = (html: string): Raw => ({ kind: 'raw', html });
export const element = (tag: string, attributes: Record<string, string>, children: Node[] = []): Element => ({
  kind: 'element',
  tag,
  attributes,
  children,
});

const VOID_TAGS = new Set(['br', 'hr', 'img']);
const BLOCK_TAGS = new Set('blockquote div h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul'.split(' '));

export const isBlock = (tag: string): boolean => BLOCK_TAGS.has(tag);

/** Texts as typed: their character references stay valid. Other attributes hold what browsers read. */
const AS_TYPED = new Set(['title', 'alt']);
/** No ampersand can end an attribute or start a tag. */
const AMPERSAND = /&(?!(?:#[0-9]+|#x[0-9a-f]+|[0-9a-z]+);)/gi;

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (content: string): string =>
  content.replace(/[&<>"]/g, (character) => ESCAPED[character] ?? character);

const escapeAttribute = (name: string, value: string): string =>
  value
    .replace(AS_TYPED.has(name) ? AMPERSAND : /&/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

export function htmlOf(nodes: readonly Node[]): string {
  return nodes.map(nodeHtml).join('');
}

function nodeHtml(node: Node): string {
  if (node.kind === 'text') return escapeHtml(node.text);
  if (node.kind === 'raw') return node.html;
  const attributes = Object.entries(node.attributes).map(
    ([name, value]) => ` ${name}="${escapeAttribute(name, value)}"`,
  );
  const open = `<${node.tag}${attributes.join('')}>`;
  return VOID_TAGS.has(node.tag) ? open : `${open}${htmlOf(node.children)}</${node.tag}>`;
}

/** The visible text. */
export function textOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => (node.kind === 'text' ? node.text : node.kind === 'element' ? textOf(node.children) : ''))
    .join('');
}
