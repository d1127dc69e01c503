/**
 * The images of a run. Each name can be set in the environment; an image that cannot be pulled is built from the
 * distribution's packages, with the behaviour of the official image.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle, dist } from '@natter/docker';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

export interface Images {
  natter: string;
  /** The image to update from. */
  previous: string;
  postgres: string;
  redis: string;
  nats: string;
  /** A pooler for Postgres, configured by /etc/pgbouncer/pgbouncer.ini. */
  pgbouncer: string;
}

export async function bringImages(log: (line: string) => void): Promise<Images> {
  const given = process.env;
  const [postgres = '', redis = '', nats = '', pgbouncer = ''] = await inTurn([
    () => serverImage('postgres', given.NATTER_POSTGRES_IMAGE, 'postgres:17', log),
    () => serverImage('redis', given.NATTER_REDIS_IMAGE, 'redis:7', log),
    () => serverImage('nats', given.NATTER_NATS_IMAGE, 'nats:2', log),
    () => serverImage('pgbouncer', given.NATTER_PGBOUNCER_IMAGE, undefined, log),
  ]);
  const natter = given.NATTER_IMAGE ?? (await buildNatter(log));
  const previous = given.NATTER_PREVIOUS_IMAGE ?? (await relabel(natter));
  if (!given.NATTER_PREVIOUS_IMAGE)
    log('no NATTER_PREVIOUS_IMAGE: the update is from the same code under another version');
  return { natter, previous, postgres, redis, nats, pgbouncer };
}

/** Bundles and builds the one image. */
async function buildNatter(log: (line: string) => void): Promise<string> {
  await bundle();
  const base = process.env.NATTER_BASE_IMAGE ?? (await baseImage(log));
  // A source archive has no revision.
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const revision = stdout?.trim() || 'unknown';
  const dockerfile = join(root, 'deploy', 'docker', 'Dockerfile');
  const args = [`BASE=${base}`, 'VERSION=0.0.0-test', `REVISION=${revision}`].flatMap((arg) => ['--build-arg', arg]);
  await docker('build', '-t', 'natter:test', '-f', dockerfile, ...args, dist);
  log(`natter:test is ${megabytes(await docker('image', 'inspect', '-f', '{{.Size}}', 'natter:test'))} on ${base}`);
  return 'natter:test';
}

/** The same program under another version: another image to Docker, and an update to everything that watches. */
async function relabel(image: string): Promise<string> {
  const context = await mkdtemp(join(tmpdir(), 'natter-image-'));
  await writeFile(
    join(context, 'Dockerfile'),
    `FROM ${image}\nLABEL org.opencontainers.image.version="0.0.0-previous"\n`,
  );
  await docker('build', '-t', 'natter:previous', context);
  await rm(context, { recursive: true });
  return 'natter:previous';
}

async function baseImage(log: (line: string) => void): Promise<string> {
  const official = 'gcr.io/distroless/cc-debian12:nonroot';
  if (await isHere(official)) return official;
  if (await canPull(official)) return official;
  if (await isHere('natter-stand-in/base')) return 'natter-stand-in/base';
  log(`${official} can't be had: a base of three packages of the distribution stands in`);
  const directory = await mkdtemp(join(tmpdir(), 'natter-base-'));
  const downloads = join(directory, 'downloads');
  const files = join(directory, 'files');
  await mkdir(downloads);
  await mkdir(join(files, 'tmp'), { recursive: true });
  await mkdir(join(files, 'etc'), { recursive: true });
  await run('apt-get', ['-o', 'APT::Sandbox::User=', 'download', 'libc6', 'libstdc++6', 'libgcc-s1'], {
    cwd: downloads,
  });
  for (const file of await readdir(downloads)) await run('dpkg-deb', ['-x', join(downloads, file), files]);
  await rm(join(files, 'usr', 'share'), { recursive: true, force: true });
  await writeFile(join(files, 'etc', 'passwd'), 'root:x:0:0::/:/\nnatter:x:10001:10001::/natter:/\n');
  await writeFile(join(files, 'etc', 'nsswitch.conf'), 'hosts: files dns\n');
  await importTree(files, 'natter-stand-in/base');
  await rm(directory, { recursive: true });
  return 'natter-stand-in/base';
}

async function serverImage(
  name: 'postgres' | 'redis' | 'nats' | 'pgbouncer',
  given: string | undefined,
  official: string | undefined,
  log: (line: string) => void,
): Promise<string> {
  if (given) return given;
  if (official && ((await isHere(official)) || (await canPull(official)))) return official;
  const standIn = `natter-stand-in/${name}`;
  if (await isHere(standIn)) return standIn;
  log(`${official ?? name} can't be had: the distribution's package stands in`);
  const files = join(import.meta.dirname, 'stand-ins');
  await docker(
    'build',
    '-t',
    standIn,
    '-f',
    join(files, `${name}.Dockerfile`),
    '--build-arg',
    `DEBIAN=${await debian(log)}`,
    files,
  );
  return standIn;
}

async function debian(log: (line: string) => void): Promise<string> {
  const official = 'debian:bookworm-slim';
  if ((await isHere(official)) || (await canPull(official))) return official;
  const standIn = 'natter-stand-in/debian';
  if (await isHere(standIn)) return standIn;
  log('no registry can be reached: bootstrapping Debian (half a minute)');
  const tree = await mkdtemp(join(tmpdir(), 'natter-debian-'));
  const install = 'command -v debootstrap || apt-get -q install -y --no-install-recommends debootstrap';
  await run('sh', ['-c', install], bigBuffer);
  await run('debootstrap', ['--variant=minbase', 'bookworm', tree, 'http://deb.debian.org/debian'], bigBuffer);
  await importTree(tree, standIn);
  await rm(tree, { recursive: true });
  return standIn;
}

let isRegistryAway = false;

async function canPull(image: string): Promise<boolean> {
  if (isRegistryAway) return false;
  const pulled = await run('docker', ['pull', '-q', image], { timeout: 120_000 }).then(
    () => true,
    () => false,
  );
  isRegistryAway = !pulled;
  return pulled;
}

const isHere = (image: string): Promise<boolean> =>
  run('docker', ['image', 'inspect', image], bigBuffer).then(
    () => true,
    () => false,
  );

const importTree = async (tree: string, image: string): Promise<void> => {
  await run('sh', ['-c', 'tar -C "$1" -c . | docker import - "$2"', 'sh', tree, image], bigBuffer);
};

const bigBuffer = { maxBuffer: 64 * 1024 * 1024 };

async function docker(...args: string[]): Promise<string> {
  // The packaged daemon and a newer client have only the classic builder in common.
  const env = { ...process.env, DOCKER_BUILDKIT: process.env.DOCKER_BUILDKIT ?? '0' };
  return (await run('docker', args, { ...bigBuffer, env })).stdout.trim();
}

const megabytes = (bytes: string): string => `${(Number(bytes) / 1e6).toFixed(0)} MB`;

async function inTurn<T>(steps: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const step of steps) results.push(await step());
  return results;
}
