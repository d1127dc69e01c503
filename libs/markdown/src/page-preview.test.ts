import { expect, test } from 'vitest';
import './load-heavy.ts';
import { pagePreviewHtml } from './page-preview.ts';
import { render } from './render.ts';
import { testContext } from './test-context.ts';

const context = { ...testContext, realmUrl: 'https://chat.example', previewPages: true };
const pagesOf = (content: string, given: object = {}): string[] => render(content, { ...context, ...given }).pages;

test.each<[string, string[]]>([
  ['no link', []],
  ['https://a.example/b', ['https://a.example/b']],
  ['[x](http://a.example) a.example https://b.example', ['http://a.example', 'https://b.example']],
  ['a.com/b', ['http://a.com/b']],
  ['> https://a.example/quoted', []],
  ['> https://a.example/b\n\nhttps://a.example/b', ['https://a.example/b']],
  ['`https://a.example/code`', []],
  ['```\nhttps://a.example/code\n```', []],
  ['https://a.example/image.png', []],
  ['https://www.youtube.com/watch?v=abc', []],
  ['https://a.example/sound.mp3', []],
  ['https://chat.example/x https://chat.example', []],
  ['https://chat.example.org/x', ['https://chat.example.org/x']],
  ['mailto:a@b.example ftp://a.example/x tel:123', []],
  ['[x](/user_uploads/1/a/b.html) [y](#narrow/a)', []],
])('%j links the pages %j', (content, pages) => {
  expect(pagesOf(content)).toEqual(pages);
});

test('a message with more than 24 links does not preview a page or an image', () => {
  const links = (count: number): string => Array.from({ length: count }, (_, i) => `https://a.example/${i}`).join(' ');
  expect(pagesOf(links(24))).toHaveLength(24);
  expect(pagesOf(links(25))).toEqual([]);
});

test('pages are listed only for realms that preview them', () => {
  expect(pagesOf('https://a.example/b', { previewPages: false })).toEqual([]);
  expect(render('https://a.example/b', testContext).pages).toEqual([]);
});

test('the preview shows the texts of a page as plain text, and its image from this server', () => {
  const page = { title: '"<b>&amp;', description: "</div>'", image: 'https://a.example/i.png?a="&b' };
  const html = pagePreviewHtml('https://a.example/?a="&b', page, 'key');
  const link = 'https://a.example/?a=&quot;&amp;b';
  const [path] = /\/external_content\/[0-9a-f]{40}\/[0-9a-f]+/.exec(html) ?? [];
  expect(html).toBe(
    `\n<div class="message_embed"><a class="message_embed_image" href="${link}" style="background-image: url(&quot;${path}&quot;)"></a>` +
      `<div class="data-container"><div class="message_embed_title"><a href="${link}" title="&quot;&lt;b&gt;&amp;amp;">&quot;&lt;b&gt;&amp;amp;</a></div>` +
      `<div class="message_embed_description">&lt;/div&gt;'</div></div></div>`,
  );
});

test('a page without title has no element for it', () => {
  const page = { title: undefined, description: 'd', image: 'https://a.example/i' };
  expect(pagePreviewHtml('https://a.example', page, 'key')).toMatch(
    /<\/a><div class="data-container"><div class="message_embed_description">d<\/div><\/div><\/div>$/,
  );
});
