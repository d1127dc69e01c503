/**
 * Generates `src/tables/` from the tables beside this file. Run it after changing them: `npm run ts
 * libs/markdown/data/build.ts`
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const target = join(import.meta.dirname, '..', 'src', 'tables');
mkdirSync(target, { recursive: true });
for (const name of ['emoji-names', 'code-languages']) {
  const text = readFileSync(join(import.meta.dirname, `${name}.tsv`), 'utf8');
  const [, ...rows] = text.trimEnd().split('\n');
  if (/[`\\$]/.test(text)) throw new Error(`${name} holds a character that a template string cannot`);
  const constant = name.toUpperCase().replaceAll('-', '_');
  const head = `/** Made from \`data/${name}.tsv\` by \`data/build.ts\`: a line for each row, columns separated by tabs. */`;
  writeFileSync(join(target, `${name}.ts`), `${head}\nexport const ${constant} = \`\n${rows.join('\n')}\n\`;\n`);
}
