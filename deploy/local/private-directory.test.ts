import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localDirectory } from './private-directory.ts';
import { repositoryRoot } from './repository-root.ts';
import { readSources } from './source-files.ts';

test('only the owner can access .natter, even if an earlier release left it open', () => {
  const directory = localDirectory();
  chmodSync(directory, 0o755);
  expect(localDirectory('cache', 'compile')).toBe(join(repositoryRoot, '.natter', 'cache', 'compile'));
  expect((statSync(directory).mode & 0o777).toString(8)).toBe('700');
});

test('only the private-directory module creates paths in .natter', () => {
  const makers = [...readSources(/\.(?:ts|mjs|js)$/)].filter(([, text]) =>
    /['"`/]\.natter['"`]|\/\.natter\//.test(text),
  );
  expect(makers.map(([path]) => path).sort()).toEqual([
    'deploy/local/private-directory.test.ts',
    'deploy/local/private-directory.ts',
  ]);
});
