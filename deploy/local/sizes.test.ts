import { expect, test } from 'vitest';
import { functionsOf, largeSources, sizeFaults } from './sizes.ts';
import { readSources } from './source-files.ts';

const lines = (count: number, line = 'work();'): string => `${line}\n`.repeat(count);
const faultsOf = (path: string, text: string, allowed: [string, string][] = []): string[] =>
  sizeFaults(new Map([[path, text]]), new Map(allowed));

test('all sources keep the limits, and every exception is needed', () => {
  expect(sizeFaults(readSources(), largeSources)).toEqual([]);
});

test('lint fails on a file of more than 300 lines, and on a test of more than 420', () => {
  expect(faultsOf('libs/x/src/a.ts', lines(300))).toEqual([]);
  expect(faultsOf('libs/x/src/a.ts', lines(301))).toEqual(['libs/x/src/a.ts has 301 lines; at most 300']);
  expect(faultsOf('libs/x/src/a.test.ts', lines(420))).toEqual([]);
  expect(faultsOf('libs/x/src/a.test.ts', lines(421))).toEqual(['libs/x/src/a.test.ts has 421 lines; at most 420']);
});

test('lint fails on a style sheet of more than 450 lines, and measures JavaScript like TypeScript', () => {
  const rules = (count: number) => lines(count, 'a { color: red; }');
  expect(faultsOf('services/web/src/ui/a.css', rules(450))).toEqual([]);
  expect(faultsOf('services/web/src/ui/a.css', rules(451))).toEqual([
    'services/web/src/ui/a.css has 451 lines; at most 450',
  ]);
  for (const path of ['services/gateway/docs-assets/docs.js', 'deploy/local/bootstrap.mjs'])
    expect(faultsOf(path, `function send() {\n${lines(299)}}\n`)).toEqual([
      `${path} has 301 lines; at most 300`,
      `${path}:1 send has 301 lines of its own; at most 60`,
    ]);
});

test('sources are programs and style sheets', () => {
  const paths = [...readSources().keys()];
  expect(paths).toContain('deploy/local/bootstrap.mjs');
  expect(paths).toContain('services/gateway/docs-assets/docs.js');
  expect(paths).toContain('services/web/src/main.tsx');
  expect(paths).toContain('services/web/src/ui/base.css');
});

test('lint fails on a function of more than 60 lines of its own', () => {
  const declared = (count: number) => `function send() {\n${lines(count - 2)}}\n`;
  expect(faultsOf('a.ts', declared(60))).toEqual([]);
  expect(faultsOf('a.ts', declared(61))).toEqual(['a.ts:1 send has 61 lines of its own; at most 60']);
  expect(faultsOf('a.ts', `\nexport const read = async () => {\n${lines(60)}};\n`)).toEqual([
    'a.ts:2 read has 62 lines of its own; at most 60',
  ]);
  expect(faultsOf('a.ts', `class A {\n  run() {\n${lines(60)}  }\n}\n`)).toEqual([
    'a.ts:2 run has 62 lines of its own; at most 60',
  ]);
});

test('a nested function counts as one line of the function around it', () => {
  const text = `function outer() {\n  const inner = () => {\n${lines(10)}  };\n  return inner;\n}\n`;
  const measured = functionsOf('a.ts', text).map(({ name, lines: own }) => [name, own]);
  expect(measured).toEqual([
    ['outer', 4],
    ['inner', 12],
  ]);
});

test('callbacks of describe may exceed the limit, but callbacks of test may not', () => {
  const block = (name: string) => `${name}('it works', () => {\n${lines(60)}});\n`;
  expect(faultsOf('a.test.ts', block('describe'))).toEqual([]);
  expect(faultsOf('a.test.ts', block('test'))).toEqual([
    'a.test.ts:1 the callback of test has 62 lines of its own; at most 60',
  ]);
});

test('lint fails on an exception that is not needed', () => {
  expect(faultsOf('a.ts', lines(301), [['a.ts', 'table']])).toEqual([]);
  expect(faultsOf('a.ts', lines(3), [['a.ts', 'table']])).toEqual(['a.ts is an exception without need']);
});
