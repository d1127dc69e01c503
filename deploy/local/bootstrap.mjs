/**
 * Runs before anything is installed, on Node 20 or newer: installs the pinned pnpm, the packages and Node 24, then runs
 * the requested command. `node deploy/local/bootstrap.mjs
 * <start|dev|test|chaos|queues|bench|simulate|fuzz|fuzz-pure|audit|e2e|newcomer|cluster|dashboards|screenshots|docs|docs-site|ts|lint|typecheck|install>
 * [arguments]`
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { constants, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PNPM = '12.21.0';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const stampFile = join(root, 'node_modules', '.natter-stamp');
const [task, ...args] = process.argv.slice(2);

// Unchanged files are not checked again.
const keepResults = [
  '--incremental',
  '--tsBuildInfoFile',
  join(root, 'node_modules', '.cache', 'typecheck.tsbuildinfo'),
];

const tasks = {
  install: () => 0,
  start: () => node(['deploy/local/start.ts', ...args]),
  dev: () => node(['deploy/local/start.ts', '--watch', ...args]),
  test,
  chaos: () => node(['test-e2e/chaos/main.ts', ...args]),
  queues: () => node(['test-e2e/queue-model/main.ts', ...args]),
  e2e: () => vitest(['--config', 'test-e2e/containers/vitest.config.ts', ...args]),
  newcomer: () => node(['test-e2e/newcomer/main.ts', ...args]),
  cluster: () => node(['test-e2e/cluster/main.ts', ...args]),
  dashboards: () => node(['test-e2e/dashboards/record.ts', ...args]),
  screenshots: () => node(['test-e2e/screenshots/main.ts', ...args]),
  bench: () => node(['test-e2e/bench/main.ts', ...args]),
  audit: () => node(['deploy/audit/main.ts', ...args]),
  fuzz: () => node(['test-e2e/fuzz/main.ts', ...args]),
  simulate: () => node(['--max-semi-space-size=64', 'test-e2e/simulation/main.ts', ...args]),
  'fuzz-pure': () => node(['test-e2e/fuzz/pure/main.ts', ...args]),
  docs: () => node(['deploy/local/settings-page.ts', ...args]),
  'docs-site': () => node(['services/gateway/src/docs-site/build.ts', ...args]),
  // Scripts of this repository need Node 24.
  ts: () => node(args),
  lint,
  typecheck,
};

if (!Object.hasOwn(tasks, task ?? ''))
  fail(`usage: node deploy/local/bootstrap.mjs <${Object.keys(tasks).join('|')}> [arguments]`, 2);
ensurePnpm();
ensurePackages();
process.exitCode = await tasks[task]();

function ensurePnpm() {
  const manifest = join(root, '.tools', 'node_modules', 'pnpm', 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === PNPM) return;
  say(`installing pnpm ${PNPM} into .tools`);
  const install = ['install', '--prefix', '.tools', `pnpm@${PNPM}`, '--no-audit', '--no-fund'];
  must('npm', install, environmentWithout('npm_config_'));
}

function ensurePackages() {
  const wanted = hashOfManifests();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  say('installing packages (the first time takes some 20 seconds)');
  const started = Date.now();
  must(join(root, '.tools', 'node_modules', '.bin', 'pnpm'), ['install', '--frozen-lockfile'], {
    ...environmentWithout('npm_'),
    PATH: searchPath(),
    // Without a terminal pnpm would otherwise ask whether it may replace node_modules.
    CI: 'true',
  });
  writeFileSync(stampFile, wanted);
  say(`packages installed in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/** The hash of all files that determine the result of an install. */
function hashOfManifests() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} pnpm ${PNPM}\n`);
  const groups = ['libs', 'services', 'deploy'].flatMap((folder) => subdirectories(folder));
  const manifests = ['.', 'test-e2e', ...groups].map((folder) => join(folder, 'package.json'));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests.sort()]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\n`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function subdirectories(folder) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
}

function test() {
  return vitest(args);
}

async function vitest(vitestArgs) {
  const directory = mkdtempSync(join(tmpdir(), 'natter-report-'));
  const report = join(directory, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await node(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...vitestArgs]);
    const line = existsSync(report) ? summary(JSON.parse(readFileSync(report, 'utf8'))) : undefined;
    console.log(line ?? 'vitest ended without a report');
    return line === undefined ? code || 1 : code;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A file that fails to load has no failed tests, but counts as failed. */
function summary(report) {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  const skipped = report.numPendingTests + report.numTodoTests;
  const counts = `${report.numPassedTests} passed, ${report.numFailedTests + broken} failed`;
  return skipped > 0 ? `${counts}, ${skipped} skipped` : counts;
}

/** The web client runs in browsers, so it has settings of its own. */
async function typecheck() {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  return (
    (await run(tsc, ['-p', 'tsconfig.json', ...keepResults, ...args])) ||
    run(tsc, ['-p', 'services/web/tsconfig.json', ...args])
  );
}

/** Formatting, lint rules, unused code, unregistered advisory locks, undeclared events, layout, sizes, and what Node cannot run. */
async function lint() {
  const tool = (name) => join(root, 'node_modules', '.bin', name);
  const code = await run(tool('biome'), ['check', '.', ...args]);
  if (code) return code;
  return (
    (await run(tool('knip'), ['--no-config-hints'])) ||
    (await node(['deploy/local/lint-locks.ts'])) ||
    (await node(['deploy/local/lint-events.ts'])) ||
    node(['--disable-warning=ExperimentalWarning', 'deploy/local/lint-layout.ts'])
  );
}

function node(nodeArgs) {
  return run(nodePath(), nodeArgs);
}

function nodePath() {
  const installed = packagedNode();
  if (installed !== undefined) return installed;
  if (typeof net.BoundSocket === 'function') return process.execPath;
  return fail(
    `Node 24.19 (or newer of 24) or 26.4 is needed on ${process.platform}-${process.arch}: install it and run this again with it`,
  );
}

function packagedNode() {
  const path = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(path) ? path : undefined;
}

function searchPath() {
  const nodeDirectory = dirname(packagedNode() ?? process.execPath);
  const ours = [nodeDirectory, join(root, '.tools', 'node_modules', '.bin'), join(root, 'node_modules', '.bin')];
  return [...ours, process.env.PATH ?? ''].join(delimiter);
}

/** Returns the exit code of the command. Signals are passed on; the command decides when to exit. */
function run(command, commandArgs) {
  return new Promise((done) => {
    const child = spawn(command, commandArgs, {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PATH: searchPath() },
    });
    const forward = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    // Killing `npm` alone reaches only its shell, which does not pass the signal on.
    const parent = process.ppid;
    const watch = setInterval(() => process.ppid !== parent && forward('SIGTERM'), 500);
    const finish = (code) => {
      clearInterval(watch);
      for (const signal of signals) process.removeListener(signal, forward);
      done(code);
    };
    child.once('error', (error) => {
      console.error(error.message);
      finish(127);
    });
    child.once('exit', (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}

function must(command, commandArgs, env) {
  // Progress goes to stderr, so that stdout contains only the output of the requested command.
  const { status, error } = spawnSync(command, commandArgs, { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`${command} ${commandArgs.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

/** `npm start` passes its own settings on; they must not affect another kind of install. */
function environmentWithout(prefix) {
  const kept = Object.entries(process.env).filter(([name]) => !(name.startsWith(prefix) && isOfTheOuterRun(name)));
  return Object.fromEntries(kept);
}

function isOfTheOuterRun(name) {
  return /^npm_(lifecycle|package|command|execpath|node_execpath|config_(prefix|local_prefix|global_prefix))/.test(
    name,
  );
}

function say(line) {
  console.error(`natter: ${line}`);
}

function fail(message, code = 1) {
  console.error(`natter: ${message}`);
  process.exit(code);
}
