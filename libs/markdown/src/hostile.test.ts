import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { heavy } from './heavy.ts';
import './load-heavy.ts';
import { render } from './render.ts';
import { testContext } from './test-context.ts';

const LENGTH = 10_000;
const MAX_MILLISECONDS = 20_000;
/** CPU time of this thread: other processes do not add to it. */
const usedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
/** The limit of a rendering (ADR 0015). */
const MAX_HTML_BYTES = 256 * 1024;
const VOID_TAGS = new Set(['br', 'hr', 'img', 'path']);
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"]*")?)*)\s*\/?>/g;
const SAFE_HREF = /^(?:https?:|ftp:|mailto:|tel:|sms:|bitcoin:|#|user_uploads\/|\/(?![/\\]))/i;

/** Reads the HTML as a stream of tags; throws if they do not nest. */
function checkHtml(html: string): void {
  const open: string[] = [];
  expect(html.replace(TAG, '')).not.toContain('<');
  for (const [, closing, tag = '', attributes = ''] of html.matchAll(TAG)) {
    expect(tag).not.toBe('script');
    expect(attributes).not.toMatch(/\son\w+=/);
    const href = /\s(?:href|src)="([^"]*)"/.exec(attributes)?.[1];
    if (href !== undefined) expect(href).toMatch(SAFE_HREF);
    if (VOID_TAGS.has(tag)) continue;
    if (closing === '') open.push(tag);
    else expect(open.pop()).toBe(tag);
  }
  expect(open).toEqual([]);
  expect(html).not.toMatch(/<script/i);
}

const PIECES = [
  '**',
  '*',
  '~~',
  '`',
  '```',
  '~~~',
  '\n',
  '\n\n',
  '    ',
  '  ',
  '- ',
  '* ',
  '1. ',
  '> ',
  '# ',
  '|',
  '|-|',
  '[',
  ']',
  '](',
  ')',
  '(',
  '<',
  '>',
  '&',
  '"',
  "'",
  '\\',
  '$$',
  '$$x$$',
  '@**',
  '@**Ann Lee**',
  '@_**all**',
  '@*dev*',
  '#**',
  '#**core>t**',
  ':',
  ':smile:',
  '👍',
  '❤️',
  '<time:',
  '<time:1>',
  'https://a.test',
  'https://a.test/x.png',
  'javascript:alert(1)',
  '<script>',
  '<img onerror=x>',
  '```quote',
  '```spoiler a',
  '```math',
  '```js',
  '#42',
  'a/b#1',
  'q:',
  'x',
  'word',
  '_',
  ' ',
  '\t',
  '\u0000',
  '\ud83d',
  '/me ',
  '![',
  'data:',
  ':)',
];

test('any mixture of markup gives balanced HTML with safe links', () => {
  const markup = fc.array(
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: 'binary', maxLength: 5 })),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(markup, (pieces) => checkHtml(render(pieces.join(''), testContext).html)),
    { numRuns: 3000 },
  );
});

const HOSTILE = [
  ...PIECES,
  '*a ',
  '**a',
  '*a**b',
  '~~a ',
  '[a](',
  '[a](b',
  '![a](',
  '[[',
  '](x)',
  '<a',
  '<!--',
  '&#',
  '`a``',
  '> - ',
  '- > ',
  '1. 1. ',
  '- - ',
  '- a\n  ',
  '>',
  '> \n',
  '>>\n',
  '|a',
  '|a|b\n|-|-\n',
  '$$a',
  '$$\\frac{',
  '$${',
  '@**a',
  '@*a',
  '#**a>',
  ':a',
  '::',
  '<time:a',
  '<time:',
  'http://',
  'https://a.',
  'a@',
  'a.b',
  'www.',
  '://',
  '(https://',
  '```quote\n',
  '```spoiler x\n',
  '````quote\n',
  '```js\n"',
  '🏳️‍',
  '🇩',
  '1️⃣',
  '\\',
  '\\(',
  '#1 ',
  'a/b',
  'q:a ',
  '(a.b/(',
  '[a]("',
  '*a *b*',
  '* a\n\n',
  "'a.b",
  '<time:1>\n\n',
  '`` ` ',
  '```quote\n- ',
  '```math\nx\n```\n',
  '$$x$$ ',
  ':) ',
  '@**|7** ',
  '\n- a\n * b',
  '1. a\n  - b\n',
  '"',
  '${',
  '/*',
  "'''",
  '{{',
  '<<a\n',
];

test.each(HOSTILE)('10,000 characters of %j render in time', (piece) => {
  const source = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
  const start = usedMs();
  const { html } = render(source, testContext);
  const elapsed = usedMs() - start;
  checkHtml(html);
  expect(elapsed).toBeLessThan(MAX_MILLISECONDS);
});

/** The least time of many renderings, in milliseconds. The first ones are slower: their code is not compiled yet. */
const costOf = (content: string): number =>
  Math.min(
    ...Array.from({ length: 500 }, () => {
      const begun = performance.now();
      render(content, testContext);
      return performance.now() - begun;
    }),
  );

test.each([
  ['<time:jan 1 2020 1', ' ', 'x>'],
  ['<time:1 jan 2020 1', ' ', 'x>'],
  ['<time:1:00', ' ', 'x\ny>'],
  ['<time:jan 1 2020', '1:', '>'],
  ['[](<>', ' ', 'x)'],
  ['- ', ' ', '\u2028'],
  ['1. ', ' ', '\u2028'],
  ['x|', ' ', 'x'],
  ['x', '\\', 'y|\n-|'],
])('%j with many %j is rendered about as fast as with letters', (begin, piece, end) => {
  const filled = (by: string): string => begin + by.repeat(1_900 / by.length) + end;
  expect(costOf(filled(piece)) / costOf(filled('a'))).toBeLessThan(20);
});

test.each([
  'js',
  'python',
  'cpp',
  'html',
  'php',
  'ruby',
  'sql',
  'yaml',
  'md',
  'perl',
  'diff',
  'json',
  'latex',
  'swift',
])('a %s block of hostile text is highlighted in time', (language) => {
  for (const piece of ['"', '{', '(', '<', '/*', 'a', ' ', '\\', '$', '-', '#{', 'a(', '0', '<a b="']) {
    const code = piece.repeat(LENGTH).slice(0, LENGTH - 100);
    const start = usedMs();
    checkHtml(render(`\`\`\`${language}\n${code}\n\`\`\``, testContext).html);
    expect(usedMs() - start).toBeLessThan(MAX_MILLISECONDS);
  }
});

test('a block with a long line of hostile text is shown without colors, because its grammar would take seconds', () => {
  const start = usedMs();
  checkHtml(render(`\`\`\`md\n${'[]('.repeat(LENGTH / 3 - 10)}\n\`\`\``, testContext).html);
  expect(usedMs() - start).toBeLessThan(5_000);
});

test('a block is shown without colors if its grammar takes too long', () => {
  const { usedMs: real } = heavy;
  const block = `\`\`\`c\n${'int main() { return 0; }\n'.repeat(20)}\`\`\``;
  const begun = real();
  let calls = 0;
  try {
    heavy.usedMs = () => begun + 60 * calls++;
    const { html } = render(block, testContext);
    checkHtml(html);
    expect(html).not.toContain('<span class="kt">');
    expect(html).toContain('int main() { return 0; }\n'.repeat(20));
  } finally {
    heavy.usedMs = real;
  }
  expect(render(block, testContext).html).toContain('<span class="kt">');
});

test.each([['a='], ['a<'], ['"a"b'], ['1;'], ["'a'='b'-"]])(
  'dense code %j fits into the HTML of a message',
  (piece) => {
    const blocks = (length: number): string => {
      const block = `\`\`\`py\n${piece.repeat(length / piece.length)}\n\`\`\`\n`;
      return block.repeat(LENGTH / block.length);
    };
    for (const length of [10, 60, 160, 300, LENGTH - 100]) {
      const { html } = render(blocks(length), testContext);
      checkHtml(html);
      expect(Buffer.byteLength(html)).toBeLessThan(MAX_HTML_BYTES);
    }
  },
);

test.each(['(a+)+$', '(a|a)*b', '(a*)*b', '.*.*.*=.*', '((a?){50}){20}', 'a{0,500}a{0,500}b'])(
  'the linkifier %j takes bounded time',
  (pattern) => {
    const linkifiers = Array.from({ length: 20 }, (_, id) => ({ id, pattern, urlTemplate: 'https://x.test' }));
    const start = usedMs();
    render('a'.repeat(LENGTH - 1), { ...testContext, linkifiers });
    render('a '.repeat(LENGTH / 2), { ...testContext, linkifiers });
    expect(usedMs() - start).toBeLessThan(2 * MAX_MILLISECONDS);
  },
);

test('content below the deepest nesting is kept as text', () => {
  expect(render(`${'>'.repeat(200)} deep`, testContext).html).toContain('deep');
  expect(render(`${'- '.repeat(200)} deep`, testContext).html).toContain('deep');
});

test.each(['\\message{forged}', '\\errmessage{forged}', '\\show x'])(
  'the formula %s does not write to the log',
  (tex) => {
    const written = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
    for (const spy of written) spy.mockImplementation(() => undefined);
    render(`$$${tex}$$`, testContext);
    for (const spy of written) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  },
);
