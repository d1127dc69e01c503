import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Exported, Sources } from './layout.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** All sources, by their path in the repository: programs and style sheets, or files whose names match `names`. */
export function readSources(names = /\.(?:[cm]?[jt]sx?|css)$/): Sources {
  const paths = ['services', 'libs', 'deploy', 'test-e2e'].flatMap((folder) => filesBelow(folder, names));
  return new Map(paths.map((path) => [path, readFileSync(root + path, 'utf8')]));
}

/** Folders with a leading dot are left out: checks create and delete them while others read the tree. */
function filesBelow(folder: string, names: RegExp): string[] {
  return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(?:node_modules|dist|\..*)$/.test(entry.name) ? [] : filesBelow(path, names);
    return names.test(entry.name) ? [path] : [];
  });
}

/** The file behind each name that packages export. */
export function readExported(): Exported {
  const manifests = ['libs', 'services', 'deploy']
    .flatMap((group) => readdirSync(root + group).map((name) => `${group}/${name}`))
    .filter((folder) => existsSync(`${root}${folder}/package.json`));
  return new Map(
    manifests.flatMap((folder) => {
      const { name, exports = {} } = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'));
      return Object.entries<string>(exports).map(
        ([path, file]) => [posix.join(name, path), posix.join(folder, file)] as const,
      );
    }),
  );
}
