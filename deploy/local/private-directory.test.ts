import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localDirectory } from './private-directory.ts';
import { repositoryRoot } from './repository-root.ts';

test('only its owner can enter .natter, also where an earlier release left it open', () => {
  const directory = localDirectory();
  chmodSync(directory, 0o755);
  expect(localDirectory('cache', 'compile')).toBe(join(repositoryRoot, '.natter', 'cache', 'compile'));
  expect((statSync(directory).mode & 0o777).toString(8)).toBe('700');
});

test('no other program makes a path in .natter', () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'dist' ? [] : filesIn(path);
      return /\.(?:ts|mjs|js)$/.test(entry.name) ? [path] : [];
    });
  const sources = ['deploy', 'libs', 'services', 'test-e2e'].flatMap(filesIn);
  const makes = (file: string) =>
    /['"`/]\.natter['"`]|\/\.natter\//.test(readFileSync(join(repositoryRoot, file), 'utf8'));
  expect(sources.filter(makes).sort()).toEqual([
    'deploy/local/private-directory.test.ts',
    'deploy/local/private-directory.ts',
  ]);
});
