import type { Executor } from '@natter/database';
import { expect, test } from 'vitest';
import { highlightFor, marked, wordsOf } from './highlight.ts';
import { createRunFinder } from './run-finder.ts';

const shown = (html: string, found: string[], runs: string[] = []): string =>
  marked(html, new Set(found), createRunFinder(runs))
    .replaceAll('<span class="highlight">', '[')
    .replaceAll('</span>', ']');

test('the words of a text are those outside of tags and character references', () => {
  expect(wordsOf('<a title="no">See app.log</a> &amp; caf&eacute; &#39;e\u0301t\u00e9')).toEqual([
    'See',
    'app',
    'log',
    'caf',
    'e\u0301t\u00e9',
  ]);
});

test('the parts of a compound word are words too', () => {
  expect(wordsOf('userName E1234 v2beta')).toEqual([
    'userName',
    'user',
    'Name',
    'E1234',
    'E',
    '1234',
    'v2beta',
    'v',
    '2',
    'beta',
  ]);
});

test.each<[string, string[], string[], string]>([
  ['<b class="tea">tea</b> &tea; teapot tea', ['tea'], [], '<b class="tea">[tea]</b> &tea; teapot [tea]'],
  ['app.log', ['log'], [], 'app.[log]'],
  ['E1234 fails', ['1234'], [], 'E[1234] fails'],
  ['東京都庁と東京', [], ['東京'], '[東京]都庁と[東京]'],
  ['東京東京', [], ['東京'], '[東京東京]'],
  ['アプリのAPI', ['API'], ['アプリ'], '[アプリ]の[API]'],
  ['ｻｰﾊﾞｰが', [], ['サーバー'], '[ｻｰﾊﾞｰ]が'],
  ['서버가', [], ['서버'], '[서버]가'],
  ['𠮷野家', [], ['𠮷'], '[𠮷]野家'],
  ['nothing', [], ['東'], 'nothing'],
])('in %j the words %j and texts %j are marked: %j', (html, found, runs, expected) => {
  expect(shown(html, found, runs)).toBe(expected);
});

test('at most thirty marks belong to a character, because many are slow to normalize', () => {
  expect(shown(`漢${'\u302a'.repeat(100)}`, [], ['漢'])).toBe(`[漢${'\u302a'.repeat(30)}]${'\u302a'.repeat(70)}`);
});

test('of a page with very many words, few of those with accents are compared', async () => {
  let compared: string[] = [];
  const executor = {
    any: async ({ values }: { values: unknown[] }) => {
      compared = values.at(-1) as string[];
      return [];
    },
  } as unknown as Executor;
  const texts = [...Array(20_000).keys()].map((nth) => `${nth} é${nth}é`);
  await highlightFor(executor, 1, { query: "'e'", text: 'e' }, texts);
  const others = compared.filter((word) => word.startsWith('é'));
  expect(others.length).toBeLessThanOrEqual(10_000);
  expect(compared).toEqual(expect.arrayContaining(['0', '19999', 'é0é']));
});

/** How often strings are searched and maps are read. */
function stepsOf(work: () => void): number {
  const { indexOf } = String.prototype;
  const { get } = Map.prototype;
  let steps = 0;
  String.prototype.indexOf = function (...values) {
    steps++;
    return indexOf.apply(this, values);
  };
  Map.prototype.get = function (key) {
    steps++;
    return get.call(this, key);
  };
  try {
    work();
  } finally {
    String.prototype.indexOf = indexOf;
    Map.prototype.get = get;
  }
  return steps;
}

const ideographs = [...Array(500).keys()].map((nth) => String.fromCharCode(0x4e00 + nth));
const nested = [...Array(44).keys()].map((nth) => '一'.repeat(nth + 1));
const longRun = `${'一'.repeat(499)}二`;
test.each<[string, string[], string]>([
  ['many texts in many pieces', ideographs, `${ideographs.join(' ')} `.repeat(10)],
  ['texts that contain each other in a long piece', nested, '一'.repeat(10_000)],
  ['a long text of which a long piece repeats the beginning', [longRun], '一'.repeat(10_000)],
])('the work of marking is proportional to the length of the text: %s', async (_, runs, html) => {
  const executor = { any: async () => [] } as unknown as Executor;
  const highlight = await highlightFor(executor, 1, { query: "'e'", text: runs.join(' ') }, [html]);
  const length = html.replaceAll(' ', '').length;
  const steps = stepsOf(() => highlight(html));
  expect(steps).toBeGreaterThanOrEqual(length);
  expect(steps).toBeLessThanOrEqual(2 * length);
});
