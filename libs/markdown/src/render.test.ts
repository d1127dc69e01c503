import { describe, expect, test } from 'vitest';
import './load-heavy.ts';
import { renderCases } from './cases/all.ts';
import { compileLinkifier } from './linkifier.ts';
import { emptyContext, render } from './render.ts';
import { testContext } from './test-context.ts';
import { topicLinks } from './topic-links.ts';

for (const [feature, cases] of Object.entries(renderCases)) {
  describe(feature, () => {
    test.each(cases)('%j', (source, html) => {
      expect(render(source, testContext).html).toBe(html);
    });
  });
}

test('at least 400 texts have their own expected HTML', () => {
  const sources = Object.values(renderCases).flatMap((cases) => cases.map(([source]) => source));
  expect(new Set(sources).size).toBeGreaterThanOrEqual(400);
});

test('mentions are reported by kind, with silent and quoted ones apart', () => {
  const { mentions } = render('@**Ann Lee** @*dev* @_**A <b>** @**topic** @_**all**\n\n> @*dev*', testContext);
  expect(mentions).toEqual({
    userIds: [7],
    groupIds: [3],
    channelWildcard: false,
    topicWildcard: true,
    silentUserIds: [8],
  });
});

test('a mention in code, in a quote or escaped does not notify a user', () => {
  const { mentions } = render('`@**Ann Lee**` \\@**all**\n> @**Ann Lee** @**all**\n\n    @**topic**', testContext);
  expect(mentions.userIds).toEqual([]);
  expect(mentions.channelWildcard).toBe(false);
  expect(mentions.topicWildcard).toBe(false);
});

test('a mention in a spoiler or in its header counts', () => {
  expect(render('```spoiler @**Ann Lee**\n@**all**\n```', testContext).mentions).toMatchObject({
    userIds: [7],
    channelWildcard: true,
  });
});

test.each([
  ['/me waves', true],
  ['/me', false],
  ['/meow', false],
  [' /me x', false],
  ['/me x\ny', true],
  ['/me x\n\ny', true],
  ['/me x\n\n- a', true],
  ['/me x\n- a', true],
])('%j is a /me message: %j', (source, expected) => {
  expect(render(source, testContext).isMeMessage).toBe(expected);
});

test('links are listed once, including previewed ones, without channel links', () => {
  const rendered = render('https://a.test #**core** https://a.test #42\n\nhttps://b.test/x.png', testContext);
  expect(rendered.links).toEqual(['https://a.test', 'https://bugs.test/42', 'https://b.test/x.png']);
  expect(rendered).toMatchObject({ hasLink: true, hasImage: true });
  expect(render('`https://a.test/x.png`', testContext)).toMatchObject({ hasLink: false, hasImage: false, links: [] });
});

test('formulas become KaTeX, blocks in display style', () => {
  expect(render('a $$x^2$$', testContext).html).toMatch(/^<p>a <span class="katex">.*<\/span><\/p>$/s);
  expect(render('```math\nx\n```', testContext).html).toMatch(/^<p><span class="katex-display"><span class="katex">/);
  // Clients that typeset formulas themselves rely on these classes.
  expect(render('$$x^2$$', testContext).html).toMatch(
    /<span class="base"><span class="strut" style="[^"]*"><\/span>.*<span class="sizing reset-size6 size3 mtight">/s,
  );
});

test('the default language applies only to fences without a language', () => {
  const context = { ...emptyContext, defaultCodeLanguage: 'python' };
  expect(render('```\nx\n```', context).html).toContain('data-code-language="Python"');
  expect(render('```text\nx\n```', context).html).toContain('data-code-language="Text only"');
  expect(render('    x', context).html).not.toContain('data-code-language');
});

test('a message that links more than 24 images does not show any', () => {
  const linked = (count: number) => Array.from({ length: count }, (_, i) => `https://a.test/${i}.png`).join(' ');
  expect(render(linked(24), emptyContext).html.split('message_inline_image')).toHaveLength(25);
  expect(render(linked(25), emptyContext).html).not.toContain('message_inline_image');
});

test('linkifiers apply in order, each to the text that the earlier ones left', () => {
  const linkifiers = [
    { id: 1, pattern: 'ab-(?P<n>[0-9]+)', urlTemplate: 'https://first.test/{n}' },
    { id: 2, pattern: '[a-z]+-[0-9]+', urlTemplate: 'https://second.test/' },
  ];
  const shown = (content: string, order: typeof linkifiers) =>
    render(content, { ...emptyContext, linkifiers: order }).html;
  const second = '<a href="https://second.test/">';
  expect(shown('ab-1 cd-2', linkifiers)).toBe(`<p><a href="https://first.test/1">ab-1</a> ${second}cd-2</a></p>`);
  expect(shown('ab-1 cd-2', linkifiers.toReversed())).toBe(`<p>${second}ab-1</a> ${second}cd-2</a></p>`);
});

test('a topic links bare domains by HTTPS, and linkifiers take precedence over addresses', () => {
  expect(topicLinks('see a.com/b, http://c.test!', [])).toEqual([
    { text: 'a.com/b', url: 'https://a.com/b' },
    { text: 'http://c.test', url: 'http://c.test' },
  ]);
  const linkifiers = [{ id: 1, pattern: 'http://c\\.test/(?P<n>[0-9]+)', urlTemplate: 'https://d.test/{n}' }];
  expect(topicLinks('http://c.test/7', linkifiers)).toEqual([{ text: 'http://c.test/7', url: 'https://d.test/7' }]);
});

test('emoticons stay text unless conversion is requested', () => {
  expect(render(':)', emptyContext).html).toBe('<p>:)</p>');
});

test('previews can be switched off', () => {
  const html = render('https://a.test/x.png', { ...testContext, previewMedia: false }).html;
  expect(html).toBe('<p><a href="https://a.test/x.png">https://a.test/x.png</a></p>');
});

test('topic links come in order, and the earlier linkifier takes precedence', () => {
  expect(topicLinks('fix #12 in a/b#3, https://a.test/x', testContext.linkifiers)).toEqual([
    { text: '#12', url: 'https://bugs.test/12' },
    { text: 'a/b#3', url: 'https://git.test/a/b/pull/3' },
    { text: 'https://a.test/x', url: 'https://a.test/x' },
  ]);
  expect(topicLinks('nothing', testContext.linkifiers)).toEqual([]);
});

test.each([
  ['(?P<a>x', false],
  ['(?=x)', false],
  ['(x)\\1', false],
  ['[z-a]', false],
  ['x**', false],
  ['x{2000}', false],
  ['((x{1000}){1000})', false],
  ['(?i)bug-(?P<n>\\d{1,3})', true],
  ['[[:alpha:]_-]+\\.\\pL', true],
  ['(?:a|b|)c*?', true],
])('pattern %j is accepted: %j', (pattern, expected) => {
  expect(compileLinkifier(pattern) !== undefined).toBe(expected);
});

test('the linkifier dialect matches like RE2', () => {
  const text = (pattern: string, topic: string) =>
    topicLinks(topic, [{ id: 1, pattern, urlTemplate: 'https://x.test/' }]).map((link) => link.text);
  expect(text('(?i)bug-\\d{1,3}', 'BUG-12 bug-1234 Bug-7')).toEqual(['BUG-12', 'Bug-7']);
  expect(text('a(?:b|bc)', 'abc ab')).toEqual(['abc', 'ab']);
  expect(text('[^\\s,]+!', 'é!, x! y')).toEqual(['é!', 'x!']);
  expect(text('\\bt.?k\\b', 'tik tok tick')).toEqual(['tik', 'tok']);
});

test.each([
  ['https://x.test/50%/{n}', 'https://x.test/50%25/7'],
  ['https://x.test/a%2Fb%zz%/{n}', 'https://x.test/a%2Fb%25zz%25/7'],
  ['https://x.test/a b/[{n}]?q=é', 'https://x.test/a%20b/[7]?q=%C3%A9'],
  ['https://x.test/{n}%', 'https://x.test/7%25'],
])('the literal text of template %j is percent-encoded', (urlTemplate, url) => {
  expect(topicLinks('n7', [{ id: 1, pattern: 'n(?P<n>\\d)', urlTemplate }])).toEqual([{ text: 'n7', url }]);
});

test('reserved expansion keeps percent-encoded parts', () => {
  const linkifiers = [{ id: 1, pattern: 'n(?P<n>\\S+)', urlTemplate: 'https://x.test/{+n}?{n}' }];
  expect(topicLinks('na/b%20%', linkifiers)).toEqual([
    { text: 'na/b%20%', url: 'https://x.test/a/b%20%25?a%2Fb%2520%25' },
  ]);
});

test('a linkifier cannot make an unsafe link', () => {
  const linkifiers = [{ id: 1, pattern: '(?P<x>j\\S+)', urlTemplate: '{+x}' }];
  expect(render('javascript:alert(1)', { ...emptyContext, linkifiers }).html).toBe('<p>javascript:alert(1)</p>');
});

test('a linkifier in use stays compiled, however many others are compiled', () => {
  const used = compileLinkifier('used-[0-9]+');
  for (let n = 0; n < 200; n++) {
    compileLinkifier(`${'x'.repeat(900)}${n}`);
    expect(compileLinkifier('used-[0-9]+')).toBe(used);
  }
});
