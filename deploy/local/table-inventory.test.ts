import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const migrations = new URL('libs/database/migrations/', root);

/** Tables of all services are created in a loop over the schemas. Partitions of `log.event` are not in the inventory. */
function existingTables(): string[] {
  const tables = new Set<string>();
  for (const name of readdirSync(migrations).sort())
    for (const [, verb, table = ''] of readFileSync(new URL(name, migrations), 'utf8').matchAll(
      /\b(CREATE|DROP) TABLE (?:IF (?:NOT )?EXISTS )?([\w%]+\.[\w%]+)/g,
    ))
      if (verb === 'DROP') tables.delete(table);
      else tables.add(table.replace('%I.', '<service>.'));
  tables.delete('log.%I');
  return [...tables].sort();
}

/** A table without a schema belongs to the schema of the one before it. */
function listedTables(): string[] {
  const page = readFileSync(new URL('docs/architecture/README.md', root), 'utf8');
  const [, section = ''] = page.split('### Tables\n');
  const [rows = ''] = section.split('\n\nEach service connects');
  return [...rows.matchAll(/^\| (`[^|]*) \|/gm)]
    .flatMap(([, cell = '']) => {
      let schema = '';
      return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
        const [table, given] = name.split('.').reverse();
        schema = given ?? schema;
        return `${schema}.${table}`;
      });
    })
    .sort();
}

test('the inventory lists each table that the migrations create and do not drop', () => {
  const tables = existingTables();
  expect(tables.length).toBeGreaterThan(80);
  expect(listedTables()).toEqual(tables);
});
