import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxDescriptionLength, maxImageLength, maxTitleLength, previewOf } from './page-preview.ts';

const url = 'https://site.example/a/b?c';
const meta = (property: string, content: string): string => `<meta property="${property}" content="${content}">`;
const of = (html: string) => previewOf(html, url);
const withImage = (html: string) => of(meta('og:image', '/a.png') + html);
const titled = (title: string) => ({ title, description: undefined, image: 'https://site.example/a.png' });

test.each([
  ['<title>A</title>', titled('A')],
  ['<TITLE lang=en>A &amp; B &#x1f600; &lt;i&gt;</TITLE>', titled('A & B 😀 <i>')],
  ['<title>\n A\t\n  B \u0000\u0007</title>', titled('A B')],
  ['<title>A</title><title>B</title>', titled('A')],
  ['<title>A<b>B</title>', titled('A<b>B')],
  ['<title>A', titled('A')],
  ['<title></title><title>B</title>', titled('B')],
  [`<title>A</title>${meta('og:title', 'B')}${meta('og:title', 'C')}`, titled('B')],
  [`${meta('og:title', ' ')}<title>A</title>`, titled('A')],
  ['<meta name=og:title content=B>', titled('B')],
  ["<META CONTENT='B' PROPERTY=' OG:Title '/>", titled('B')],
  ['<meta property="og:title" content="B" content="C">', titled('B')],
  ['<!-- <title>A</title> --><title>B</title>', titled('B')],
  ['<script>"<title>A</title>"</script><title>B</title>', titled('B')],
  ['<textarea><title>A</title></textarea><title>B</title>', titled('B')],
  ['<p title="<title>A</title>"><title>B</title>', titled('B')],
])('%j is described as %j', (html, preview) => {
  expect(withImage(html)).toEqual(preview);
});

test.each(['', 'text', '<title> </title>', '<meta content="A">', '<metal content=A name=og:title>'])(
  '%j does not produce a preview',
  (html) => {
    expect(withImage(html)).toBeUndefined();
  },
);

test.each(['', meta('og:image', ''), meta('og:image', 'https://')])(
  'a page with the image %j has no preview',
  (html) => {
    expect(of(`<title>A</title>${meta('og:description', 'B')}${html}`)).toBeUndefined();
  },
);

test('the Open Graph description takes precedence over that of the page', () => {
  const plain = '<meta name="Description" content="plain">';
  expect(withImage(plain)?.description).toBe('plain');
  expect(withImage(plain + meta('og:description', 'graph'))?.description).toBe('graph');
});

test.each([
  ['/i.png', 'https://site.example/i.png'],
  ['i.png', 'https://site.example/a/i.png'],
  [' //other.example/i ', 'https://other.example/i'],
  ['http://10.0.0.1/i', 'http://10.0.0.1/i'],
  ['https://u:p@other.example/i', undefined],
  ['data:image/png;base64,AA', undefined],
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
  [`/${'a'.repeat(maxImageLength)}`, undefined],
])('the image %j resolves to %j', (given, image) => {
  expect(of(`<title>A</title>${meta('og:image', given)}`)?.image).toBe(image);
});

test('long texts are cut between characters', () => {
  const { title = '', description = '' } =
    withImage(`<title>${'😀'.repeat(9_999)}</title>${meta('og:description', 'b '.repeat(9_999))}`) ?? {};
  expect([...title]).toEqual([...Array(maxTitleLength - 1).fill('😀'), '…']);
  expect(description.length).toBeLessThanOrEqual(maxDescriptionLength);
  expect(description.endsWith('b…')).toBe(true);
});

const part = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...['<title>', '</title', '<meta property="og:title" content="', "'", '"', '>', '<!--', '-->', '<script>'],
  ),
  fc.constantFrom('&amp;', '&#0;', '&#x110000;', '&#xd800;', '<![CDATA[', '<svg/>', '\ud800', '\u202e'),
);

test('a preview of any page has bounded, well-formed texts without control characters', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const preview = withImage(parts.join(''));
      if (preview === undefined) return;
      for (const text of [preview.title, preview.description]) {
        if (text === undefined) continue;
        expect(text).not.toBe('');
        expect([...text].length).toBeLessThanOrEqual(maxDescriptionLength);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/\p{Cc}/u);
      }
    }),
  );
});
