import { expect, test } from 'vitest';
import { groupMention, placeLink, plain, strong, userMention } from './names-in-notices.ts';

test('plain names become links, mentions and bold text', () => {
  expect(placeLink('general')).toBe('#**general**');
  expect(placeLink('general', '[a] b > c')).toBe('#**general>[a] b > c**');
  expect(placeLink('general', '')).toBe('#**general>**');
  expect(placeLink('general', 'lunch', 7)).toBe('#**general>lunch@7**');
  expect(strong('R&D, 2.0')).toBe('**R&D, 2.0**');
  expect(groupMention('designers')).toBe('@_*designers*');
  expect(userMention('Ada [she]', 7)).toBe('@_**Ada [she]|7**');
});

test('names that would end their markup become code', () => {
  expect(placeLink('a** @**all')).toBe('`#a** @**all`');
  expect(placeLink('general', 'a`** @**all', 7)).toBe("`#general > a'** @**all`");
  expect(placeLink('a>b')).toBe('`#a>b`');
  expect(strong('[x](http://evil.example)')).toBe('`[x](http://evil.example)`');
  expect(groupMention('a* @*role:owners')).toBe('`a* @*role:owners`');
});

test('names that are markup themselves become code, because they may be renamed before they are rendered', () => {
  const link = '[log in](https://evil.example)';
  expect(placeLink(link)).toBe(`\`#${link}\``);
  expect(placeLink('general', link)).toBe(`\`#general > ${link}\``);
  expect(groupMention(link)).toBe(`\`${link}\``);
  expect(userMention(link, 7)).toBe(`\`${link}\``);
  expect(groupMention('https://evil.example')).toBe('`https://evil.example`');
});

test('every name has only one line', () => {
  expect(groupMention('a\n\n@all')).toBe('`a @all`');
  expect(strong('a\u2029b')).toBe('`a b`');
  expect(placeLink('a\r\nb', 'c')).toBe('`#a b > c`');
});

test('text with markup or a name becomes code, and other text is unchanged', () => {
  expect(plain('This is not allowed.')).toBe('This is not allowed.');
  expect(plain("Not authorized to send to channel '#**board>payroll**'")).toBe(
    "`Not authorized to send to channel '#**board>payroll**'`",
  );
  expect(plain('<time:2030-01-01>\n\n@**all**')).toBe('`<time:2030-01-01> @**all**`');
});
