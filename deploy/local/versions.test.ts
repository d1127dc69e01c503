import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot as root } from './repository-root.ts';

test('all packages have the version of the release, which `GET /server/status` returns', () => {
  const folders = ['libs', 'services'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  const versionOf = (folder: string): string =>
    JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version;
  const release = versionOf('.');
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((folder) => versionOf(folder) !== release)).toEqual([]);
});
