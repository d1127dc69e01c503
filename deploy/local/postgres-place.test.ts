import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { placePostgres } from './postgres-place.ts';
import { canEnter, unprivileged } from './unix-process.ts';

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)('PostgreSQL can access its data directory after the temporary folder was emptied', async () => {
  const runAs = unprivileged();
  const place = await mkdtemp(join(tmpdir(), 'natter-place-'));
  // Only root can enter directories of mkdtemp.
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-data-'));
  const home = join(place, 'postgres');
  await writeFile(join(dataDir, 'postgres-lies-in'), home);
  await rm(place, { recursive: true });
  const umask = process.umask(0o077);
  try {
    expect(await placePostgres(dataDir, runAs)).toBe(home);
    expect(canEnter(dirname(home), runAs)).toBe(true);
  } finally {
    process.umask(umask);
    await rm(dataDir, { recursive: true });
    await rm(place, { recursive: true, force: true });
  }
});
