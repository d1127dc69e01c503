/** Redis and NATS from the Debian or Ubuntu archive, unpacked into a cache: needs no root, installs nothing. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { localDirectory } from './private-directory.ts';
import type { ServerContext } from './server-context.ts';

const run = promisify(execFile);

export interface Binary {
  command: string;
  env: NodeJS.ProcessEnv;
}

/** apt-get refuses to run beside another one: those of several workers of the tests wait for each other. */
export const aptGet = (args: string[], env: NodeJS.ProcessEnv = process.env) =>
  run('flock', ['--close', '/usr/bin/apt-get', 'apt-get', ...args], { timeout: 600_000, env });

export async function unpackDistributionPackages(
  context: ServerContext,
  name: string,
  packages: string[],
): Promise<Binary | undefined> {
  const shared = localDirectory('cache');
  const kept = await unpackedIn(join(shared, name), name);
  if (kept) return kept;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) return undefined;

  const cache = (await isWritable(shared)) ? shared : join(tmpdir(), `natter-cache-${process.getuid?.()}`);
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const target = join(cache, name);
  const own = await unpackedIn(target, name);
  if (own) return own;

  context.log(`${name}: fetching it from the distribution's packages`);
  const unfinished = `${target}.${randomBytes(4).toString('hex')}`;
  const downloads = join(unfinished, 'downloads');
  try {
    await mkdir(downloads, { recursive: true });
    await download(packages, downloads);
    for (const file of await readdir(downloads)) await run('dpkg-deb', ['-x', join(downloads, file), unfinished]);
    await rm(downloads, { recursive: true, force: true });
    await chmod(unfinished, 0o755);
    // Two simultaneous starts may both get here; either copy is fine.
    await rename(unfinished, target).catch(() => {});
  } catch (error) {
    context.log(`${name}: not from packages: ${error instanceof Error ? error.message.trim() : error}`);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return unpackedIn(target, name);
}

async function download(packages: string[], cwd: string): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  // As root, apt downloads as a separate user, who can't write here.
  const asRoot = isRoot ? ['-o', 'APT::Sandbox::User='] : [];
  const fetch = () => run('apt-get', [...asRoot, 'download', ...packages], { cwd, timeout: 120_000 });
  try {
    await fetch();
  } catch (error) {
    if (!isRoot) throw error;
    await aptGet([...asRoot, 'update']);
    await fetch();
  }
}

async function unpackedIn(root: string, name: string): Promise<Binary | undefined> {
  const command = ['usr/bin', 'usr/sbin']
    .map((directory) => join(root, directory, name))
    .find((path) => existsSync(path));
  if (command === undefined) return undefined;
  const libraries: string[] = [];
  for (const directory of [join(root, 'usr/lib'), join(root, 'lib')]) {
    const entries = await readdir(directory).catch(() => []);
    libraries.push(...entries.filter((entry) => entry.includes('-linux-')).map((entry) => join(directory, entry)));
  }
  return { command, env: libraries.length > 0 ? { LD_LIBRARY_PATH: libraries.join(':') } : {} };
}

async function isWritable(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
