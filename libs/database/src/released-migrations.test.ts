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
