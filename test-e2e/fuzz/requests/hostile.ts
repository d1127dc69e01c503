/** Values made to break parsers, renderers, matchers and stores. Large ones are built on use. */
import type { Random } from '../../random.ts';

const nest = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);
const sized = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);

const smallTexts: readonly string[] = [
  '',
  ' ',
  '\t\n\r',
  '0',
  '-1',
  'null',
  'true',
  '[]',
  '{}',
  '"',
  "'",
  '\\',
  '%',
  '%s%s%n%d',
  "'; DROP TABLE users.account; --",
  "' OR '1'='1",
  '%_%\\%',
  '$(id)`id`',
  '{{7*7}}$\u007b7*7}<%= 7*7 %>',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '/etc/passwd\u0000.png',
  'a\r\nX-Injected: 1\r\n\r\nbody',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'data:text/html,<b>',
  'http://127.0.0.1:1/',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'e\u0301\u0301\u0301',
  '\u202eoverride\u202c',
  '\u200b\u200d\ufeff',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  '\ufffe\uffff',
  '\u0000',
  'a\u0000b',
  '\u0001\u001f\u007f\u0085\u2028',
  'İıſK',
  '@**all**',
  '@**|1**',
  '#**nothing>nothing**',
  ':smile:',
  '1e309',
  '99999999999999999999999999',
  '+1 555',
  'ÿ',
  '*',
  '(?:a+)+$',
  '(a|a)*b',
  '((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})',
  '(?:(?:){1000}){1000}',
  '(?<a>x)(?<a>y)',
  '[',
  '(?',
  '\\u{110000}',
  '{a}{b}{c,d}{+e}{#f}{/g*}{;h:3}{?i,j}{&k}',
  'https://a.example/{id}{id}{id}',
];

/** Markup and patterns that were slow in some product; most are also in the bench's list of worst inputs. */
export const slowMarkup: readonly (() => string)[] = [
  () => sized('[', 10_000),
  () => sized('> ', 10_000),
  () => sized('- ', 10_000),
  () => sized('*a **b _c ', 10_000),
  () => sized('[a](b ', 10_000),
  () => sized('![a](<b> ', 10_000),
  () => sized('@**', 10_000),
  () => sized(':smile::', 10_000),
  () => sized('http://', 10_000),
  () => sized('<time:2020-01-01T00:00:00Z> <time:', 10_000),
  () => sized('```quote\n', 10_000),
  () => `|${sized('a|', 4_900)}\n|${sized('-|', 4_900)}\n`,
  () => `$$${'\\def\\a{\\b\\b}'.repeat(60)}\\a$$`,
  () => `$$\\def\\a#1{#1#1}${'\\a{'.repeat(30)}x${'}'.repeat(30)}$$`,
  () => `$$\\begin{matrix}${sized('a&', 4_000)}\\\\${sized('b\\\\', 4_000)}\\end{matrix}$$`,
  () => `$$${nest('{', '}', 2_000)}$$`,
  () => `$$${'\\sqrt{'.repeat(1_500)}x${'}'.repeat(1_500)}$$`,
  () => `\`\`\`javascript\n${sized('`${', 9_900)}\n\`\`\``,
  () => `\`\`\`c++\n${sized('#define a(b ', 9_900)}\n\`\`\``,
  () => `\`\`\`perl\n${sized('s{a}{', 9_900)}\n\`\`\``,
  () => `\`\`\`yaml\n${sized('- - ', 9_900)}\n\`\`\``,
  () => `\`\`\`html\n${sized('<a ', 9_900)}\n\`\`\``,
  () => `\`\`\`markdown\n${sized('[](', 9_900)}\n\`\`\``,
  () => `\`\`\`haskell\n${sized('{-', 9_900)}\n\`\`\``,
  () => `\`\`\`latex\n${sized('\\begin{a}', 9_900)}\n\`\`\``,
  () =>
    Array.from({ length: 139 }, (_, index) => '`'.repeat(index + 1))
      .join(' ')
      .slice(0, 10_000),
  () => sized('a\u0301', 10_000),
  () => sized('#1', 10_000),
  () => sized('www.a.b/', 10_000),
  () => sized('a@b.c ', 10_000),
  () => sized('~~a', 10_000),
  () => sized('1. ', 10_000),
  () => sized('||', 10_000),
];

const largeTexts: readonly (() => string)[] = [
  () => 'x'.repeat(1_001),
  () => 'x'.repeat(10_001),
  () => 'x'.repeat(100_000),
  () => '\u{1f600}'.repeat(60),
  () => '\u{1f600}'.repeat(5_001),
  () => 'é'.repeat(30_000),
  () => '\n'.repeat(10_000),
  () => `${'a,'.repeat(5_000)}b`,
  () => 'a@b.example,'.repeat(600),
  () => '(?:'.repeat(500) + ')'.repeat(500),
  () => 'a?'.repeat(60) + 'a'.repeat(60),
];
const hugeTexts: readonly (() => string)[] = [() => 'x'.repeat(3_000_000), () => 'ab '.repeat(400_000)];

export function hostileText(random: Random): string {
  const dice = random.next();
  if (dice < 0.003) return random.pick(hugeTexts)();
  if (dice < 0.06) return random.pick(largeTexts)();
  if (dice < 0.12) return random.pick(slowMarkup)();
  if (dice < 0.16) return random.pick(hostileJson(random));
  return random.pick(smallTexts);
}

/** Text for a JSON field. */
export function hostileJsonText(random: Random): string {
  const dice = random.next();
  if (dice < 0.02) return random.pick(largeJson)();
  if (dice < 0.75) return random.pick(hostileJson(random));
  return hostileText(random);
}

const hostileJson = (random: Random): readonly string[] => [
  'null',
  'true',
  '0',
  '-1',
  '-0',
  '1.5',
  '1e400',
  '-1e400',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775808',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"a"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[{}]',
  '[1,1,1]',
  '["a"]',
  '[1,"a",null,{},[]]',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1}',
  '{"length":5}',
  '{"then":1}',
  '{"direct_members":[],"direct_subgroups":[]}',
  '{"direct_members":[2147483648],"direct_subgroups":[-1]}',
  '[["search","a"],["search","b"]]',
  '[{"operator":"search","operand":{"toString":1}}]',
  '[{"operator":"__proto__","operand":"x"}]',
  '[{"operator":"dm","operand":[[]]}]',
  '[{"operator":"near","operand":9007199254740993}]',
  '[{"negated":true,"operator":"topic","operand":"\\u0000"}]',
  '[1,2',
  '{"a":',
  '\u00a0{}',
  '[01]',
  `[${random.below(1e9)}]`,
  nest('[', ']', 100),
  nest('{"a":', '}', 1).replace('}', '1}'),
];

const largeJson: readonly (() => string)[] = [
  () => nest('[', ']', 5_000),
  () => nest('[', ']', 100_000),
  () => `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  () => `[${'1,'.repeat(100_000)}1]`,
  () => `[${'"a",'.repeat(50_000)}"a"]`,
  () => `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  () => `[${'["is","unread"],'.repeat(20_000)}["is","unread"]]`,
  () => `"${'x'.repeat(500_000)}"`,
  () => `[${'{},'.repeat(30_000)}{}]`,
];

export const boundaryNumbers: readonly number[] = [
  0,
  1,
  -1,
  2,
  255,
  256,
  32_767,
  32_768,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) - 1,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e16,
  1e19,
  1e300,
  0.5,
  -0.1,
];

/** Percent-encoded, because no text has these bytes. */
export const hostileBytes: readonly string[] = [
  '%ff%fe',
  '%c0%80',
  '%ed%a0%80',
  '%f4%90%80%80',
  '%00',
  'a%00b',
  '%',
  '%zz',
  '%u0041',
  '+%2B%20',
  '%e2%82',
];
