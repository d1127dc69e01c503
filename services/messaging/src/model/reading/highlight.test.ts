import { expect, test } from 'vitest';
import { marked, wordsOf } from './highlight.ts';

const shown = (html: string, found: string[], runs: string[] = []): string =>
  marked(html, new Set(found), runs).replaceAll('<span class="highlight">', '[').replaceAll('</span>', ']');

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
