import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that permit Natter, under Apache-2.0, to use a package and to ship it in the image. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);
/** Packages with another licence, each with the reason why it is acceptable. */
const exceptions: Readonly<Record<string, string>> = {
  'combine-errors': 'MIT by its readme, which its manifest does not repeat; only tests load it',
  'axe-core': 'MPL-2.0; only tests load it, and it is not changed',
  lightningcss: 'MPL-2.0; only the test runner loads it, and it is not changed',
  'lightningcss-linux-x64-gnu': 'MPL-2.0; as above',
  'lightningcss-linux-arm64-gnu': 'MPL-2.0; as above',
  'lightningcss-darwin-arm64': 'MPL-2.0; as above',
};

interface Installed {
  name: string;
  licence: string;
}

/** Every package in pnpm's store of this checkout. */
export function installedPackages(store: string): Installed[] {
  const found = new Map<string, Installed>();
  for (const entry of readdirSync(store)) {
    const modules = join(store, entry, 'node_modules');
    if (!existsSync(modules)) continue;
    for (const name of packageNames(modules)) {
      const file = join(modules, name, 'package.json');
      if (!existsSync(file)) continue;
      const manifest = JSON.parse(readFileSync(file, 'utf8'));
      // Symbolic links point to packages of other entries.
      found.set(`${manifest.name}@${manifest.version}`, { name: String(manifest.name), licence: licenceOf(manifest) });
    }
  }
  return [...found.values()].filter(({ name }) => !name.startsWith('@natter/'));
}

const packageNames = (modules: string): string[] =>
  readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );

interface Manifest {
  license?: string | { type?: string };
  licenses?: { type?: string }[];
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none';
}

/** Whether an alternative (OR) is allowed. An alternative of several licences (AND) needs all of them allowed. */
export function isAllowed(name: string, licence: string): boolean {
  if (name in exceptions) return true;
  const plain = licence.replace(/[()]/g, '');
  return plain.split(' OR ').some((alternative) => alternative.split(' AND ').every((one) => allowed.has(one.trim())));
}
