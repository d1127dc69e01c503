import { expect, test } from 'vitest';
import {
  groupMention,
  type NoticeText,
  notice,
  placeLink,
  plain,
  quoteBlock,
  quotedLines,
  strong,
  userMention,
} from './notice-text.ts';

const shown = ({ markdown }: NoticeText): string => markdown;
const channel = (name: string) => ({ channel_id: 5, name });

test('plain names become links, mentions and bold text', () => {
  expect(shown(placeLink(channel('general')))).toBe('#**general**');
  expect(shown(placeLink(channel('general'), '[a] b > c'))).toBe('#**general>[a] b > c**');
  expect(shown(placeLink(channel('general'), ''))).toBe('#**general>**');
  expect(shown(placeLink(channel('general'), 'lunch', 7))).toBe('#**general>lunch@7**');
  expect(shown(strong('R&D, 2.0'))).toBe('**R&D, 2.0**');
  expect(shown(groupMention('designers'))).toBe('@_*designers*');
  expect(shown(userMention('Ada [she]', 7))).toBe('@_**Ada [she]|7**');
});

test('names that would end their markup become code', () => {
  expect(shown(placeLink(channel('a** @**all')))).toBe('`#a** @**all`');
  expect(shown(placeLink(channel('general'), 'a`** @**all', 7))).toBe("`#general > a'** @**all`");
  expect(shown(placeLink(channel('a>b')))).toBe('`#a>b`');
  expect(shown(strong('[x](http://evil.example)'))).toBe('`[x](http://evil.example)`');
  expect(shown(groupMention('a* @*role:owners'))).toBe('`a* @*role:owners`');
});

test('names that are markup themselves become code, because they may be renamed before they are rendered', () => {
  const link = '[log in](https://evil.example)';
  expect(shown(placeLink(channel(link)))).toBe(`\`#${link}\``);
  expect(shown(placeLink(channel('general'), link))).toBe(`\`#general > ${link}\``);
  expect(shown(groupMention(link))).toBe(`\`${link}\``);
  expect(shown(userMention(link, 7))).toBe(`\`${link}\``);
  expect(shown(groupMention('https://evil.example'))).toBe('`https://evil.example`');
});

test('every name has only one line', () => {
  expect(shown(groupMention('a\n\n@all'))).toBe('`a @all`');
  expect(shown(strong('a\u2029b'))).toBe('`a b`');
  expect(shown(placeLink(channel('a\r\nb'), 'c'))).toBe('`#a b > c`');
});

test('text with markup or a name becomes code, and other text is unchanged', () => {
  expect(shown(plain('This is not allowed.'))).toBe('This is not allowed.');
  expect(shown(plain("Not authorized to send to channel '#**board>payroll**'"))).toBe(
    "`Not authorized to send to channel '#**board>payroll**'`",
  );
  expect(shown(plain('<time:2030-01-01>\n\n@**all**'))).toBe('`<time:2030-01-01> @**all**`');
});

test('quotes end where the server ends them, whatever characters the renderer removes', () => {
  expect(shown(quoteBlock('x\r`\u0002``\r@**all**'))).toBe('````quote\nx\n```\n@**all**\n````');
  expect(shown(quoteBlock('#\u0002**board** #*\u0003*board**'))).toBe('```quote\n\\#**board** \\#**board**\n```');
  expect(shown(quotedLines('a\rb #\u0003**board**'))).toBe('> a\n> b \\#**board**');
});

test('a notice knows the channels that it links, not those that it quotes', () => {
  const text = notice`${placeLink(channel('general'), 'lunch')}: ${quoteBlock('#**board**')}, ${3} times`;
  expect(text.channelIds).toEqual([5]);
  expect(text.markdown).toBe('#**general>lunch**: ```quote\n\\#**board**\n```, 3 times');
});
