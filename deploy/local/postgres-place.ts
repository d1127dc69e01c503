/** The location of PostgreSQL's data and binaries if the user that runs it can't enter the checkout. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { PostgresBinaries } from './binaries.ts';
import { repositoryRoot } from './repository-root.ts';
import { sweepLeftover } from './server-process.ts';
import { canEnter, type RunAs } from './unix-process.ts';

/** The PostgreSQL home of this data directory: the same at each start. */
export async function placePostgres(dataDir: string, runAs: RunAs): Promise<string> {
  const inside = join(dataDir, 'postgres');
  if (canEnter(dataDir, runAs)) return inside;
  // Deleting the data directory must delete the data: the marker is deleted with it.
  const marker = join(dataDir, 'postgres-lies-in');
  const marked = await readFile(marker, 'utf8').catch(() => '');
  if (marked !== '') {
    await ensurePlace(dirname(marked));
    return marked;
  }
  // Data of a temporary directory stays temporary; all other data survives a reboot.
  const isTemporary = dataDir.startsWith(join(tmpdir(), '/'));
  const place = await stablePlace(isTemporary ? tmpdir() : '/var/lib').catch(() => stablePlace(tmpdir()));
  const home = join(place, `postgres-${hash(dataDir)}`);
  await rm(home, { recursive: true, force: true });
  if (existsSync(inside)) await moveFrom(inside, home);
  await writeFile(marker, home);
  return home;
}

/** Moves data from when the data directory was open to other users. */
async function moveFrom(inside: string, home: string): Promise<void> {
  await sweepLeftover(inside, 'SIGINT');
  const { status, stderr } = spawnSync('cp', ['-a', inside, home], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`PostgreSQL's data could not be copied to ${home}: ${stderr}`);
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

const stablePlace = (parent = tmpdir()): Promise<string> => ensurePlace(join(parent, `natter-${hash(repositoryRoot)}`));

/**
 * Makes a directory that PostgreSQL's user can enter, whatever the umask is, and also after the temporary folder was
 * emptied. Refuses one that another user created first, because the temporary folder is shared.
 */
async function ensurePlace(place: string): Promise<string> {
  await mkdir(place, { mode: 0o711 }).catch(() => {});
  const stat = await lstat(place);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw new Error(`${place} belongs to another user`);
  await chmod(place, 0o711);
  return place;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
