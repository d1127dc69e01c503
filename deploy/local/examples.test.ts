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

test('the diagram from a commit to a held poll names functions of the source', () => {
  const page = readFileSync(`${repositoryRoot}/docs/architecture/log.md`, 'utf8');
  const participants = [...page.matchAll(/^ {2}participant \w+ as (.+)<br\/>(\S+\.ts)$/gm)];
  expect(participants.length).toBeGreaterThan(5);
  for (const [, names = '', file = ''] of participants)
    for (const name of names.split(', '))
      expect(readFileSync(`${repositoryRoot}/${file}`, 'utf8'), `${name} of ${file}`).toMatch(
        new RegExp(`\\b(?:function |const |async )?${name}(?: = |\\(|: )`),
      );
});
