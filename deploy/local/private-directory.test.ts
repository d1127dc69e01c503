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
  const sources = ['deploy', 'libs', 'services', 'test-e2e'].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|mjs|js)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );
  const makes = (file: string) =>
    /['"`/]\.natter['"`]|\/\.natter\//.test(readFileSync(join(repositoryRoot, file), 'utf8'));
  expect(sources.filter(makes)).toEqual([
    'deploy/local/private-directory.test.ts',
    'deploy/local/private-directory.ts',
  ]);
});
