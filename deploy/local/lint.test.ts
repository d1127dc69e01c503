import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repositoryRoot } from './repository-root.ts';

const here = import.meta.dirname;
const modules = readdirSync(here).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
const scripts = modules.filter((name) => name.startsWith('lint-'));
const checks = ['biome', 'knip', ...scripts].sort();

/** A checkout with `bootstrap.mjs` alone. Its tools note what they were asked to run. */
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'natter-lint-'));
  const place = (file: string): string => {
    mkdirSync(join(root, file, '..'), { recursive: true });
    return join(root, file);
  };
  copyFileSync(join(here, 'bootstrap.mjs'), place('deploy/local/bootstrap.mjs'));
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')).devEngines.packageManager;
  writeFileSync(place('.tools/node_modules/pnpm/package.json'), JSON.stringify({ version }));
  const tool = `#!/bin/sh
echo "$0 $*" >> '${root}/runs'
case "$0 $*" in *"/$BROKEN"*) exit 1;; esac
`;
  const node = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  for (const file of ['.tools/node_modules/.bin/pnpm', 'node_modules/.bin/biome', 'node_modules/.bin/knip', node])
    writeFileSync(place(file), tool, { mode: 0o755 });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Runs `npm run lint` with a check that fails. Returns the checks that ran, and the exit code. */
function lint(broken: string): { ran: string[]; code: number | null } {
  const { status } = spawnSync(process.execPath, [join(root, 'deploy/local/bootstrap.mjs'), 'lint'], {
    env: { ...process.env, BROKEN: broken },
  });
  const runs = existsSync(join(root, 'runs')) ? readFileSync(join(root, 'runs'), 'utf8') : '';
  const ran = runs
    .split('\n')
    .flatMap((run) => checks.filter((check) => run.split(' ').some((word) => basename(word) === check)));
  return { ran, code: status };
}

test('lint runs every check', () => {
  expect(checks.length).toBeGreaterThan(4);
  const { ran, code } = lint('none');
  expect([ran.sort(), code]).toEqual([checks, 0]);
});

test.each(checks)('lint fails if %s fails', (check) => {
  const { ran, code } = lint(check);
  expect([ran.at(-1), code]).toEqual([check, 1]);
});

test('a script of lint calls every check of sources', () => {
  const read = (name: string): string => readFileSync(join(here, name), 'utf8');
  const called = scripts.map(read).join('');
  const functions = modules.flatMap((name) =>
    [...read(name).matchAll(/^export (?:function|const) (\w+Faults|all[A-Z]\w+)\b/gm)].map(([, check = '']) => check),
  );
  expect(functions.length).toBeGreaterThan(4);
  expect(functions.filter((check) => !called.includes(`${check}(`))).toEqual([]);
});
