/**
 * PostgreSQL: user and database `natter`, durable as in production. It refuses to run as root, so root starts it as the
 * user nobody; files that this user can't reach are kept elsewhere (see `postgres-place.ts`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chown, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findPostgres, missing, type PostgresBinaries } from './binaries.ts';
import { startDocker } from './docker.ts';
import { keptPort } from './port.ts';
import { answersQuery } from './postgres-answers.ts';
import { placePostgres, reachableBinaries } from './postgres-place.ts';
import { keptSecret } from './secret.ts';
import type { ServerContext } from './server-context.ts';
import { externalServer, isLeftover, type ServerProcess, startOnPort, sweepLeftover } from './server-process.ts';
import { isAlive, type RunAs, unprivileged } from './unix-process.ts';

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
};

export async function bringPostgres(context: ServerContext): Promise<ServerProcess> {
  const given = context.env.NATTER_POSTGRES_URL;
  if (given) return externalServer(given, 'NATTER_POSTGRES_URL');

  const runAs = unprivileged();
  const home = await placePostgres(context.dataDir, runAs);
  const data = join(home, 'data');
  await sweepLeftover(home, 'SIGINT');
  if (context.fresh) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });
  await give(home, runAs);

  const kept = keptVersion(data);
  const found = await findPostgres(context, kept);
  const passwordFile = join(home, 'password');
  const password = await keptSecret(passwordFile);
  await give(passwordFile, runAs);
  const urlAt = (port: number): string => `postgres://natter:${password}@127.0.0.1:${port}/natter`;

  if (found === undefined) {
    const port = await keptPort(home);
    return inDocker(context, { home, port, password, url: urlAt(port) });
  }

  const binaries = await reachableBinaries(found, runAs);
  if (kept === undefined) initialize(binaries, { data, passwordFile, runAs, env: context.env });
  if (kept === undefined) await rename(`${data}.new`, data);
  await forgetForeignPid(data, home);
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return startOnPort(home, async (port) => {
    context.log(`postgres: ${binaries.version} from ${binaries.directory} on 127.0.0.1:${port}`);
    return {
      name: 'postgres',
      url: urlAt(port),
      home,
      command: join(binaries.directory, 'postgres'),
      args: ['-D', data, '-p', String(port), ...flags],
      env: cleanEnvironment(context.env),
      runAs,
      stopSignal: 'SIGINT',
      answers: () => answersQuery(urlAt(port)),
      log: context.log,
    };
  });
}

function initialize(
  binaries: PostgresBinaries,
  { data, passwordFile, runAs, env }: { data: string; passwordFile: string; runAs: RunAs; env: NodeJS.ProcessEnv },
): void {
  const start = ['-D', `${data}.new`, '-U', 'natter', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
  let output = '';
  for (const locale of locales(binaries.major)) {
    const initdb = spawnSync(
      'sh',
      // An interrupted start leaves an incomplete directory, which initdb refuses.
      [
        '-c',
        'rm -rf "$1" && shift && exec "$@"',
        'sh',
        `${data}.new`,
        join(binaries.directory, 'initdb'),
        ...start,
        ...locale,
      ],
      { cwd: dirname(data), env: cleanEnvironment(env), encoding: 'utf8', ...runAs },
    );
    if (initdb.status === 0) return;
    output = `${initdb.error?.message ?? ''}${initdb.stdout}${initdb.stderr}`;
  }
  throw new Error(`initdb failed: ${output}`);
}

/** Strings sort by code point on every machine; upper and lower case cover more than ASCII where available. */
function locales(major: number): string[][] {
  const withCase = major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : ['--lc-ctype=C.UTF-8'];
  return [['--locale=C', ...withCase], ['--locale=C']];
}

async function inDocker(
  context: ServerContext,
  { home, port, password, url }: { home: string; port: number; password: string; url: string },
): Promise<ServerProcess> {
  const container = await startDocker(context, {
    name: 'postgres',
    image: context.env.NATTER_POSTGRES_IMAGE ?? 'postgres:18',
    url,
    home,
    port,
    innerPort: 5432,
    variables: {
      POSTGRES_USER: 'natter',
      POSTGRES_DB: 'natter',
      POSTGRES_PASSWORD: password,
      POSTGRES_INITDB_ARGS: '--locale=C --encoding=UTF8',
    },
    command: ['postgres', '-c', 'max_connections=300', '-c', 'shared_buffers=128MB'],
    keepsData: true,
    answers: () => answersQuery(url),
  });
  if (container) return container;
  throw missing('PostgreSQL', 'NATTER_POSTGRES_URL', 'postgresql');
}

function keptVersion(data: string): number | undefined {
  const file = join(data, 'PG_VERSION');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

/** After a crash the number in postmaster.pid may belong to another process, for whose end PostgreSQL would wait. */
async function forgetForeignPid(data: string, home: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (isAlive(pid) && !isLeftover(pid, home)) await rm(file, { force: true });
}

/** PG* variables of the caller would change the behaviour of initdb and postgres. */
function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { PATH: env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

async function give(path: string, { uid, gid }: RunAs): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
