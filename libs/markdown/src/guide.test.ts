import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import './load-heavy.ts';
import { render } from './render.ts';
import { testContext } from './test-context.ts';

const guide = readFileSync(new URL('../../../docs/guides/markdown.md', import.meta.url), 'utf8');
const html = (text: string): string => render(text, testContext).html;

/** Code spans of a cell of a table, as they are read. */
const spansOf = (cell: string): string[] =>
  [...cell.matchAll(/(`+) ?(.+?) ?\1(?!`)/g)].map(([, , code = '']) => code.replaceAll('\\|', '|'));

const rows = [...guide.matchAll(/^\| (`.+?`) +\| (`<.+?`) +\|$/gm)].flatMap(([, texts = '', becomes = '']) =>
  spansOf(texts).map((text) => [text, spansOf(becomes)[0] ?? ''] as const),
);
const blocks = [...guide.matchAll(/^(`{3,})text\n(.+?)^\1\n\n`(<[^`\n]+>)`$/gms)].map(
  ([, , text = '', begins = '']) => [text.trimEnd(), begins] as const,
);

test('the guide has examples', () => {
  expect([rows.length, blocks.length]).toEqual([19, 6]);
});

test.each(rows)('in a line, %j becomes %j', (text, becomes) => {
  expect([becomes, `<p>${becomes}</p>`]).toContain(html(text));
});

test.each(blocks)('the block %j becomes %j', (text, begins) => {
  expect(html(text)).toContain(begins);
});
