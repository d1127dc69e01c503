/** Where PostgreSQL's data and binaries lie when the user that runs it can't enter the checkout. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type PostgresBinaries, repositoryRoot } from './binaries.ts';
import { canEnter, type RunAs } from './unix-process.ts';

/** The home of the PostgreSQL of this data directory: the same at each start. */
export async function placePostgres(dataDir: string, runAs: RunAs): Promise<string> {
  if (canEnter(dataDir, runAs)) return join(dataDir, 'postgres');
  const place = await stablePlace();
  const home = join(place, `postgres-${hash(dataDir)}`);
  // Who deletes the data directory expects the data gone: the marker goes with it.
  const marker = join(dataDir, 'postgres-lies-in');
  const marked = await readFile(marker, 'utf8').catch(() => '');
  if (marked !== home) {
    await rm(home, { recursive: true, force: true });
    await writeFile(marker, home);
  }
  return home;
}

export async function reachableBinaries(binaries: PostgresBinaries, runAs: RunAs): Promise<PostgresBinaries> {
  if (canEnter(binaries.directory, runAs)) return binaries;
  const installation = dirname(binaries.directory);
  const copy = join(await stablePlace(), `postgres-bin-${hash(installation + binaries.version)}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${randomBytes(4).toString('hex')}`;
    await cp(installation, unfinished, { recursive: true, verbatimSymlinks: true });
    await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true, force: true }));
  }
  return { ...binaries, directory: join(copy, basename(binaries.directory)) };
}

/** Refuses a directory that another user made first: the temporary folder is everybody's. */
async function stablePlace(): Promise<string> {
  const place = join(tmpdir(), `natter-${hash(repositoryRoot)}`);
  await mkdir(place, { mode: 0o711 }).catch(() => {});
  const stat = await lstat(place);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw new Error(`${place} belongs to another user`);
  return place;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
