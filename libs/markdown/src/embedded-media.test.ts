import { describe, expect, test } from 'vitest';
import './load-heavy.ts';
import { render } from './render.ts';
import { testContext } from './test-context.ts';

const htmlOf = (content: string, given: object = {}): string => render(content, { ...testContext, ...given }).html;
const requests = (html: string): number => html.match(/ src="/g)?.length ?? 0;

describe.each([
  '/user_uploads/../json/users/x',
  '/user_uploads/1/../../json/users/x',
  '/user_uploads/./../json/users/x',
  '/user_uploads/%2e%2e/json/users/x',
  '/user_uploads/%2E./json/users/x',
  '/user_uploads/.%2e/json/users/x',
  '/user_uploads/..\\json/users/x',
  '/user_uploads/1\\..\\..\\json/users/x',
  'http://localhost:9991/user_uploads/../json/users/x',
  'http://localhost:9991/user_uploads/%2e%2e/json/users/x',
  'http://localhost:9991/json/users/x',
  'http://LOCALHOST:9991/json/users/x',
  'http://a@localhost:9991/json/users/x',
  'http://localhost:9991\\json/users/x',
])('readers request nothing of this server for %s', (address) => {
  test.each(['png', 'mp3', 'mp4'])('.%s', (type) => {
    for (const externalContentKey of [undefined, 'key'])
      for (const content of [`![x](${address}.${type})`, `[x](${address}.${type})`, `${address}.${type}`]) {
        const html = htmlOf(content, { externalContentKey });
        expect(requests(html)).toBe(0);
        expect(html).not.toContain('href="user_uploads');
        expect(html).not.toContain('message_inline_image');
      }
  });
});

test('media at an address of a page of this server is a link', () => {
  expect(htmlOf('![a **b**](/user_uploads/../json/users/x.png)')).toBe(
    '<p><a href="/user_uploads/../json/users/x.png">a **b**</a></p>',
  );
  expect(htmlOf('![](http://localhost:9991/user_uploads/../json/x.mp3)')).toBe(
    '<p><a href="http://localhost:9991/user_uploads/../json/x.mp3">http://localhost:9991/user_uploads/../json/x.mp3</a></p>',
  );
});

test.each([
  '/user_uploads/1/ab/x.png',
  '/user_uploads/1/./ab/../x.png',
  '/user_uploads/1/ab/..x.png?a=/../../b',
  '/user_uploads/1/ab/%252e%252e.png',
])('the file at %s is shown', (address) => {
  const shown = `data-original-src="${address}" src="${address}"`;
  expect(htmlOf(`![x](${address})`)).toBe(`<p><img alt="x" class="inline-image" ${shown}></p>`);
  expect(htmlOf(`![x](http://localhost:9991${address})`)).toContain(shown.replaceAll('"/', '"'));
});

const media = (count: number, type = 'png'): string[] =>
  Array.from({ length: count }, (_, i) => `![](/user_uploads/1/${i}.${type})`);

test.each<[string, (some: string[]) => string]>([
  ['a paragraph', (some) => some.join(' ')],
  ['emphasis', (some) => some.map((one) => `**a ${one}** *b*`).join(' ')],
  ['quotes', (some) => some.map((one) => `> > ${one}`).join('\n\nx\n\n')],
  ['a list', (some) => some.map((one) => `- a\n  - ${one}`).join('\n')],
  ['a table', (some) => ['|a|', '|-|', ...some.map((one) => `|${one}|`)].join('\n')],
  ['a spoiler', (some) => ['```spoiler x', ...some, '```'].join('\n')],
  ['headings', (some) => some.map((one) => `# ${one}`).join('\n')],
])('of the media in %s, 24 are shown, and further ones are links', (_, contentOf) => {
  for (const count of [24, 40]) {
    const html = htmlOf(contentOf([...media(count - 10), ...media(10, 'mp3')]));
    expect(requests(html)).toBe(24);
    expect(html.match(/<a href="\/user_uploads\/1\/\d+\.(?:png|mp3)">/g) ?? []).toHaveLength(count - 24);
  }
});

test('media in the text and previews share the limit', () => {
  const links = (count: number): string => Array.from({ length: count }, (_, i) => `https://a.test/${i}.png`).join(' ');
  const context = { previewPages: true };
  const rendered = (images: number, linked: number) =>
    render(`${media(images).join(' ')}\n\n${links(linked)} https://a.test/page`, { ...testContext, ...context });
  expect([requests(rendered(10, 13).html), rendered(10, 13).pages]).toEqual([23, ['https://a.test/page']]);
  expect([requests(rendered(10, 14).html), rendered(10, 14).pages]).toEqual([10, []]);
  expect(requests(rendered(320, 1).html)).toBe(24);
});
