/**
 * One server that tests can kill and start again on the same port and data. A server that ends by itself is started
 * again. Only processes started here, and those that a crashed start left in the same home directory, are ever
 * signalled.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFree, keptPort } from './port.ts';
import { childrenOf, commandLineOf, isAlive, parentOf, type RunAs, signalProcess } from './unix-process.ts';

export interface ServerProcess {
  url: string;
  /** The URL came from the environment: the server can't be killed or started. */
  external: boolean;
  pid: number | undefined;
  /** Resolves when the process is gone, or at once for signals that don't end it. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again after `kill` or `stop`, on the same port and data; resolves when the server answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Recipe {
  name: string;
  url: string;
  /** A directory of this server alone, part of its command line, by which a left-over process is recognized. */
  home: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  runAs: RunAs;
  stopSignal: NodeJS.Signals;
  /** Throws or resolves to false until the server answers. */
  answers(): Promise<boolean>;
  log: (line: string) => void;
}

const STARTS_WITHIN_MS = 120_000;
const STOPS_WITHIN_MS = 10_000;
const LOG_BYTES = 10_000_000;
/** Delay before a server that ended by itself is started again: it doubles, unless the server ran for a while. */
const FIRST_DELAY_MS = 200;
const LAST_DELAY_MS = 10_000;
const STEADY_MS = 60_000;
const endingSignals: ReadonlySet<NodeJS.Signals> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGABRT']);

export function externalServer(url: string, variable: string): ServerProcess {
  const refuse = async (): Promise<void> => {
    throw new Error(`${variable} names a server that was not started here: it is not killed or started`);
  };
  return { url, external: true, pid: undefined, kill: refuse, start: refuse, stop: async () => {} };
}

async function startServer(recipe: Recipe): Promise<ServerProcess> {
  let child: ChildProcess | undefined;
  /** False after `kill` and `stop`, until `start`. */
  let isWanted = false;
  let starting: Promise<void> | undefined;
  let delayMs = FIRST_DELAY_MS;

  async function run(): Promise<void> {
    const started = await spawnUntilItAnswers(recipe, () => isWanted);
    child = started;
    server.pid = started.pid;
    const startedAt = performance.now();
    void exitOf(started, { isAwaited: false }).then(async () => {
      await settled();
      if (!isWanted || starting || child !== started) return;
      if (performance.now() - startedAt > STEADY_MS) delayMs = FIRST_DELAY_MS;
      beginStart(bringBack(started));
    });
  }

  function beginStart(work: Promise<void>): Promise<void> {
    starting = work.finally(() => {
      starting = undefined;
    });
    return starting;
  }

  /** Waits for the end of a start in progress, whether it succeeds or not. */
  const settled = async (): Promise<void> => starting?.catch(() => undefined);

  async function bringBack(ended: ChildProcess): Promise<void> {
    recipe.log(`${recipe.name} ended with ${ended.exitCode ?? ended.signalCode} and is started again`);
    while (isWanted) {
      await sleep(delayMs, undefined, { ref: false });
      delayMs = Math.min(2 * delayMs, LAST_DELAY_MS);
      try {
        if (isWanted) await run();
        return;
      } catch (error) {
        if (isWanted) recipe.log(error instanceof Error ? error.message : String(error));
      }
    }
  }

  const server: ServerProcess = {
    url: recipe.url,
    external: false,
    pid: undefined,
    kill: async (signal) => {
      if (endingSignals.has(signal)) isWanted = false;
      await settled();
      const running = child;
      if (running?.pid === undefined || hasExited(running)) return;
      signalWithChildren(running.pid, signal);
      if (endingSignals.has(signal)) await exitOf(running);
    },
    start: async () => {
      isWanted = true;
      if (starting === undefined && child !== undefined && !hasExited(child)) return;
      await (starting ?? beginStart(run()));
    },
    stop: async () => {
      isWanted = false;
      await settled();
      const running = child;
      if (running?.pid === undefined || hasExited(running)) return;
      // A paused process handles no other signal.
      signalWithChildren(running.pid, 'SIGCONT');
      signalProcess(running.pid, recipe.stopSignal);
      const ended = await Promise.race([
        exitOf(running).then(() => true),
        sleep(STOPS_WITHIN_MS, false, { ref: false }),
      ]);
      if (!ended) {
        signalWithChildren(running.pid, 'SIGKILL');
        await exitOf(running);
      }
      await rm(pidFileOf(recipe.home), { force: true });
    },
  };
  await server.start();
  return server;
}

/** Another process can take the port between the check and the start; then another port is used. */
export async function startOnPort(home: string, recipeFor: (port: number) => Promise<Recipe>): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    const port = await keptPort(home);
    try {
      return await startServer(await recipeFor(port));
    } catch (error) {
      if (attempt === 5 || (await isFree(port))) throw error;
    }
  }
}

/** Stops what a crashed start left running in this home; throws if that start is still alive. */
export async function sweepLeftover(home: string, stopSignal: NodeJS.Signals): Promise<void> {
  const [pid = 0, startedBy] = (await readFile(pidFileOf(home), 'utf8').catch(() => '')).split(' ').map(Number);
  if (!(pid > 1) || !isLeftover(pid, home)) return;
  if (parentOf(pid) === startedBy) throw new Error(`${home} is in use by process ${startedBy}`);
  signalWithChildren(pid, 'SIGCONT');
  signalProcess(pid, stopSignal);
  const deadline = performance.now() + STOPS_WITHIN_MS;
  while (isLeftover(pid, home)) {
    if (performance.now() > deadline) signalWithChildren(pid, 'SIGKILL');
    await sleep(20);
  }
}

export function isLeftover(pid: number, home: string): boolean {
  return isAlive(pid) && commandLineOf(pid).includes(home);
}

async function spawnUntilItAnswers(recipe: Recipe, isWanted: () => boolean): Promise<ChildProcess> {
  const deadline = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    const child = spawnDetached(recipe);
    // Only the next start after a crash reads the file. On a full disk the server starts without.
    if (child.pid !== undefined)
      await writeFile(pidFileOf(recipe.home), `${child.pid} ${process.pid}`).catch(({ message }: Error) =>
        recipe.log(`${recipe.name}: ${message}`),
      );
    if (await answersBeforeExit(recipe, child, () => (isWanted() ? deadline : 0))) return child;
    if (!isWanted()) throw new Error(`${recipe.name} is not wanted any more`);
    // After a SIGKILL the dying process can hold the port or the shared memory for a moment.
    if (performance.now() > deadline - STARTS_WITHIN_MS + 30_000) throw new Error(failureOf(recipe, child));
    await sleep(200);
  }
}

async function answersBeforeExit(recipe: Recipe, child: ChildProcess, deadline: () => number): Promise<boolean> {
  for (;;) {
    if (hasExited(child)) return false;
    if (await recipe.answers().catch(() => false)) return !hasExited(child);
    if (performance.now() > deadline()) {
      if (child.pid !== undefined) signalWithChildren(child.pid, 'SIGKILL');
      await exitOf(child);
      return false;
    }
    await sleep(50);
  }
}

/**
 * Detached, because Ctrl-C in a terminal signals the whole process group: the servers must outlive the services that
 * use them.
 */
function spawnDetached(recipe: Recipe): ChildProcess {
  const logFile = join(recipe.home, 'log');
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const log = openSync(logFile, size > LOG_BYTES ? 'w' : 'a', 0o600);
  const child = spawn(recipe.command, recipe.args, {
    cwd: recipe.home,
    env: recipe.env,
    stdio: ['ignore', log, log],
    detached: true,
    ...recipe.runAs,
  });
  closeSync(log);
  child.on('error', () => {});
  child.unref();
  if (child.pid !== undefined) rememberUntilExit(child, child.pid);
  return child;
}

const running = new Set<number>();

function rememberUntilExit(child: ChildProcess, pid: number): void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(pid);
  child.once('exit', () => {
    running.delete(pid);
    if (running.size === 0) process.removeListener('exit', killAll);
  });
}

function killAll(): void {
  for (const pid of running) signalWithChildren(pid, 'SIGKILL');
}

/** PostgreSQL's backends are in separate process groups; a pause or a kill must include them. */
function signalWithChildren(pid: number, signal: NodeJS.Signals): void {
  const withChildren = signal === 'SIGKILL' || signal === 'SIGSTOP' || signal === 'SIGCONT';
  const before = withChildren ? childrenOf(pid) : [];
  signalProcess(pid, signal);
  for (const each of before) signalProcess(each, signal);
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** `isAwaited`: this process stays alive until the child ends. */
function exitOf(child: ChildProcess, { isAwaited } = { isAwaited: true }): Promise<void> {
  if (hasExited(child)) return Promise.resolve();
  if (isAwaited) child.ref();
  return new Promise((done) => child.once('exit', () => done()));
}

function pidFileOf(home: string): string {
  return join(home, 'pid');
}

function failureOf(recipe: Recipe, child: ChildProcess): string {
  let tail = '';
  try {
    tail = readFileSync(join(recipe.home, 'log'), 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  } catch {}
  const how = child.pid === undefined ? 'could not be run' : `ended with ${child.exitCode ?? child.signalCode}`;
  return `${recipe.name} did not start: ${recipe.command} ${how}\n${tail}`;
}
