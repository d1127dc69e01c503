import { expect, test } from 'vitest';
import released from '../released-migrations.json' with { type: 'json' };
import { readMigrations } from './migrate.ts';

test('a released migration is not edited, renamed or removed, and new migrations run after all released ones', async () => {
  const migrations = await readMigrations();
  const found = Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const [name, checksum] of Object.entries(released)) expect([name, found[name]]).toEqual([name, checksum]);
  const last = Object.keys(released).sort().at(-1) ?? '';
  const early = migrations.filter(({ name }) => !(name in released) && name < last);
  expect(early.map(({ name }) => name)).toEqual([]);
});

test('a migration builds an index of a table of the last release while others write the table', async () => {
  const fresh = (await readMigrations()).filter(({ name }) => !(name in released));
  const created = new Set(
    fresh.flatMap(({ text }) => [...text.matchAll(/CREATE TABLE ([\w.]+)/g)].map(([, of]) => of)),
  );
  const blocking = fresh
    .filter(({ name }) => name > '083')
    .flatMap(({ name, text }) => {
      const indexes = [...text.matchAll(/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)[^;]*? ON ([\w.]+)/g)];
      return indexes.filter(([, of]) => !created.has(of)).map(([, of]) => `${name}: ${of}`);
    });
  expect(blocking).toEqual([]);
});
