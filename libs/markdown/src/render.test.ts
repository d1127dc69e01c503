import { describe, expect, test } from 'vitest';
import './load-heavy.ts';
import { compileLinkifier } from './linkifier.ts';
import { emptyContext, render } from './render.ts';
import { renderCases } from './render-cases.ts';
import { testContext } from './test-context.ts';
import { topicLinks } from './topic-links.ts';
import { emojiNames, unicodeEmoji } from './unicode-emoji.ts';

for (const [feature, cases] of Object.entries(renderCases)) {
  describe(feature, () => {
    test.each(cases)('%j', (source, html) => {
      expect(render(source, testContext).html).toBe(html);
    });
  });
}

test('mentions are reported by kind, silent and quoted ones apart', () => {
  const { mentions } = render('@**Ann Lee** @*dev* @_**A <b>** @**topic** @_**all**\n\n> @*dev*', testContext);
  expect(mentions).toEqual({
    userIds: [7],
    groupIds: [3],
    channelWildcard: false,
    topicWildcard: true,
    silentUserIds: [8],
  });
});

test('a mention in code, in a quote or escaped notifies nobody', () => {
  const { mentions } = render('`@**Ann Lee**` \\@**all**\n> @**Ann Lee** @**all**\n\n    @**topic**', testContext);
  expect(mentions.userIds).toEqual([]);
  expect(mentions.channelWildcard).toBe(false);
  expect(mentions.topicWildcard).toBe(false);
});

test('a mention in a spoiler and in its header counts', () => {
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
  ['/me x\n\n- a', false],
])('%j is a /me message: %j', (source, expected) => {
  expect(render(source, testContext).isMeMessage).toBe(expected);
});

test('links are listed once, previews included, channel links not', () => {
  const rendered = render('https://a.test #**core** https://a.test #42\n\nhttps://b.test/x.png', testContext);
  expect(rendered.links).toEqual(['https://a.test', 'https://bugs.test/42', 'https://b.test/x.png']);
  expect(rendered).toMatchObject({ hasLink: true, hasImage: true });
  expect(render('`https://a.test/x.png`', testContext)).toMatchObject({ hasLink: false, hasImage: false, links: [] });
});

test('formulas become KaTeX, blocks in display style', () => {
  expect(render('a $$x^2$$', testContext).html).toMatch(/^<p>a <span class="katex">.*<\/span><\/p>$/s);
  expect(render('```math\nx\n```', testContext).html).toMatch(/^<p><span class="katex-display"><span class="katex">/);
  // Clients that draw formulas themselves know them by these classes.
  expect(render('$$x^2$$', testContext).html).toMatch(
    /<span class="base"><span class="strut" style="[^"]*"><\/span>.*<span class="sizing reset-size6 size3 mtight">/s,
  );
});

test('the default language applies to fences without a language only', () => {
  const context = { ...emptyContext, defaultCodeLanguage: 'python' };
  expect(render('```\nx\n```', context).html).toContain('data-code-language="Python"');
  expect(render('```text\nx\n```', context).html).toContain('data-code-language="Text only"');
  expect(render('    x', context).html).not.toContain('data-code-language');
});

test('emoticons stay text unless asked for', () => {
  expect(render(':)', emptyContext).html).toBe('<p>:)</p>');
});

test('previews can be switched off', () => {
  const html = render('https://a.test/x.png', { ...testContext, previewMedia: false }).html;
  expect(html).toBe('<p><a href="https://a.test/x.png">https://a.test/x.png</a></p>');
});

test('topic links come in order, the earlier linkifier winning', () => {
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

test('a linkifier cannot make an unsafe link', () => {
  const linkifiers = [{ id: 1, pattern: '(?P<x>j\\S+)', urlTemplate: '{+x}' }];
  expect(render('javascript:alert(1)', { ...emptyContext, linkifiers }).html).toBe('<p>javascript:alert(1)</p>');
});

test('every emoji name leads to its code', () => {
  for (const [code, names] of emojiNames) for (const name of names) expect(unicodeEmoji(name)).toBe(code);
  expect(emojiNames.size).toBeGreaterThan(1800);
});
