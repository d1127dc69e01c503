import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { repositoryRoot } from './repository-root.ts';

/** Code blocks whose first line names a file of the source. */
const examples = globSync(['CONTRIBUTING.md', 'docs/**/*.md'], { cwd: repositoryRoot }).flatMap((page) =>
  [...readFileSync(`${repositoryRoot}/${page}`, 'utf8').matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)].map(
    ([, file = '', code = '']) => ({ page, file, code }),
  ),
);

test('pages for contributors have examples', () => {
  expect(new Set(examples.map(({ page }) => page)).size).toBeGreaterThanOrEqual(4);
});

for (const { page, file, code } of examples)
  test(`the example of ${file} in ${page} is code of that file`, () => {
    expect(readFileSync(`${repositoryRoot}/${file}`, 'utf8')).toContain(code);
  });
