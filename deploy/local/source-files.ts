import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Sources } from './layout.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** All sources in TypeScript, by their path in the repository. */
export function readSources(): Sources {
  const paths = ['services', 'libs', 'deploy', 'test-e2e'].flatMap((folder) => filesBelow(folder));
  return new Map(paths.map((path) => [path, readFileSync(root + path, 'utf8')]));
}

function filesBelow(folder: string): string[] {
  return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(?:node_modules|dist|\..*)$/.test(entry.name) ? [] : filesBelow(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}
