/** Writes the documentation as static files: `npm run docs:site [FOLDER]`, by default `dist/docs`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asyncApi } from '../api-docs/async-api.ts';
import { openApi } from '../api-docs/open-api.ts';
import { docsSite } from './site.ts';

const gateway = join(import.meta.dirname, '..', '..');
const target = resolve(process.argv[2] ?? 'dist/docs');
const fileOf = (name: string): string => (name.includes('.') ? name : `${name}.html`);

const site = docsSite(
  { assets: join(gateway, 'docs-assets'), guides: join(gateway, 'guides') },
  {
    // Relative: the files work below any address, and without a server.
    linkTo: (page, part) => `${fileOf(page)}${part === undefined ? '' : `#${part}`}`,
    linkToFile: (name) => name,
    canTry: false,
  },
);
mkdirSync(target, { recursive: true });
for (const [name, file] of site)
  writeFileSync(
    join(target, fileOf(name)),
    file.text().replaceAll(/href="\/(openapi|asyncapi)\.json"/g, 'href="$1.json"'),
  );
writeFileSync(join(target, 'openapi.json'), JSON.stringify(openApi()));
writeFileSync(join(target, 'asyncapi.json'), JSON.stringify(asyncApi()));
console.log(`${target}: ${site.size + 2} files`);
