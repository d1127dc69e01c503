import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';

/** Names, which are the same in each language. */
const names = ['GitHub', 'Twitter'];
/** Attributes whose texts people read or hear. */
const readable =
  /^(aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label|name|short|full|action|detail|kind|untitled|empty|list|hint)$/;
const words = /\p{L}/u;

interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** Visible texts of a component that are in no catalogue. */
function literalsIn(source: string): string[] {
  const found: string[] = [];
  const add = (text: string): void => {
    if (words.test(text) && !names.includes(text.trim())) found.push(text.replace(/\s+/g, ' ').trim());
  };
  const shown = (node: unknown): void => {
    if (!isNode(node)) return;
    if (node.type === 'Literal' && typeof node.value === 'string') add(node.value);
    if (node.type === 'TemplateLiteral') {
      for (const { value } of node.quasis as { value: { raw: string } }[]) add(value.raw);
      for (const one of node.expressions as Node[]) shown(one);
    }
    if (node.type === 'ConditionalExpression') for (const side of [node.consequent, node.alternate]) shown(side);
    if (node.type === 'LogicalExpression') shown(node.right);
    if (node.type === 'JSXExpressionContainer') shown(node.expression);
  };
  const visit = (node: Node): void => {
    if (node.type === 'JSXText') add(String(node.value));
    if (node.type === 'JSXElement' || node.type === 'JSXFragment')
      for (const child of node.children as Node[]) shown(child);
    if (
      node.type === 'JSXAttribute' &&
      isNode(node.name) &&
      readable.test(String(node.name.name)) &&
      !isControl(node, source)
    )
      shown(node.value);
    for (const value of Object.values(node))
      for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) visit(one);
  };
  visit(parseAst(source, { lang: 'tsx' }) as unknown as Node);
  return found;
}

/** `name`, `list`, `action` and `kind` of elements of HTML are for programs. */
const isControl = (attribute: Node, source: string): boolean =>
  /^(name|list|action|kind)=/.test(source.slice(attribute.start)) &&
  /^<[a-z]/.test(source.slice(source.lastIndexOf('<', attribute.start)));

test('the check finds texts of elements, attributes and conditions, and ignores other strings', () => {
  const bad = `<p title="A title" className="a b">Some text{x ? 'one' : \`two \${y}\`}<Tool name={\`\${x}\${y ? ', three' : ''}\`} /></p>`;
  expect(literalsIn(bad).toSorted()).toEqual([', three', 'A title', 'Some text', 'one', 'two']);
  expect(literalsIn(`<p className="a b" dir="auto"><input name="theme" /> – {t('close')} {f('x')}</p>`)).toEqual([]);
});

test('components show only texts from the catalogues', () => {
  const source = join(import.meta.dirname, '..');
  const files = (readdirSync(source, { recursive: true }) as string[]).filter((file) => file.endsWith('.tsx'));
  expect(files.length).toBeGreaterThan(60);
  const found = files.flatMap((file) =>
    literalsIn(readFileSync(join(source, file), 'utf8')).map((text) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});
