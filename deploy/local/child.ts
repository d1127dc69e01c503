import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServiceProgram } from '@natter/contracts';
import { localDirectory } from './private-directory.ts';

/** One service process; restarted if it exits unexpectedly. */
export interface Child {
  program: ServiceProgram;
  index: number;
  pid(): number | undefined;
  ready(): Promise<void>;
  operationsPort(): number | undefined;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface ChildOptions {
  program: ServiceProgram;
  index: number;
  env: NodeJS.ProcessEnv;
  /** A descriptor of this process, which the child inherits as each of `inheritedFds`. */
  fd: number | undefined;
  onLine: ((line: string) => void) | undefined;
  onMail: ((mail: LocalMail) => void) | undefined;
  /** Whether a process that stays stopped is killed, and thereby restarted. One that computes endlessly ends itself. */
  replacesStopped: boolean;
}

/** How long a process may stay stopped: its connections get no answer until their clients give up. */
const stoppedMs = 3_000;
const lookEveryMs = 500;

/**
 * After standard input, output, errors, and the channel to the parent. Many, because a turn of a gateway's event loop
 * accepts one connection of each.
 */
export const inheritedFds = Array.from({ length: 256 }, (_, index) => 4 + index);

/** Detected on Linux only; elsewhere a stopped process stays. */
function isStopped(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.startsWith('T', stat.lastIndexOf(')') + 2);
  } catch {
    return false;
  }
}

/** Tells at each look whether the process has been stopped for as long as it may. */
export function createStopCount(): (isStopped: boolean) => boolean {
  let looks = 0;
  return (isStopped) => {
    looks = isStopped ? looks + 1 : 0;
    return looks * lookEveryMs >= stoppedMs;
  };
}

/** A mail that was not sent, because no mail server is configured. */
export interface LocalMail {
  to: string;
  subject: string;
  text: string;
}

/**
 * Unhandled errors, answers with undeclared codes, undeclared events, and unexpected exits of every child of this
 * process. Tests fail on them.
 */
export const faults: string[] = [];
const fault = /"msg":"(?:uncaught exception|unhandled rejection|undeclared error code|undeclared event)"/;

/** The lines of a process's output that report an unhandled error, or an undeclared code or event. */
export const faultsIn = (output: string): string[] => output.split('\n').filter((line) => fault.test(line));

/**
 * The program of the image, if tests bundled it: it starts in half of the CPU time. It runs the service or the command of
 * its arguments.
 */
export const bundledProgram = (): string | undefined => process.env.NATTER_TEST_BUNDLE;

const entryOf = (program: ServiceProgram): string[] => {
  const bundled = bundledProgram();
  if (bundled !== undefined) return [bundled, program];
  const source =
    program === 'scheduler' ? '../../services/messaging/src/scheduler.ts' : `../../services/${program}/src/main.ts`;
  return [fileURLToPath(new URL(source, import.meta.url))];
};

/** Caches stripped and compiled modules for all processes of this checkout. */
export const compileCache = localDirectory('cache', 'compile');

/**
 * Most data of a request is garbage when it ends: a small young generation limits the memory of held polls. The image
 * uses the same setting.
 */
const nodeOptions = ['--max-semi-space-size=8'];

export function startChild({ program, index, env, fd, onLine, onMail, replacesStopped }: ChildOptions): Child {
  let isWanted = true;
  let isSignalled = false;
  let process_: ChildProcess;
  let operationsPort: number | undefined;
  let whenReady: Promise<void>;
  let exited: Promise<void>;
  /** Grows while the process ends before it is ready, or cannot be started. */
  let restartAfterMs = 200;
  run();
  const isStoppedForLong = createStopCount();
  const looking = setInterval(() => {
    if (!isStoppedForLong(replacesStopped && isStopped(process_.pid))) return;
    onLine?.(
      JSON.stringify({ level: 50, service: program, msg: `process ${process_.pid} is stopped, it is replaced` }),
    );
    process_.kill('SIGKILL');
  }, lookEveryMs);
  looking.unref();

  function start(): void {
    try {
      run();
    } catch (error) {
      // `spawn` throws, for example if there is not enough memory.
      failed(error);
    }
  }

  /** The system could not start the process: it has too little memory, or too many processes or files. */
  function failed(error: unknown): void {
    const { message } = error as Error;
    onLine?.(JSON.stringify({ level: 50, service: program, msg: `the process could not be started: ${message}` }));
    whenReady = Promise.reject(error);
    whenReady.catch(() => undefined);
    startLater(false);
  }

  function startLater(wasReady: boolean): void {
    restartAfterMs = wasReady ? 200 : Math.min(2 * restartAfterMs, 3_000);
    if (isWanted) setTimeout(() => isWanted && start(), restartAfterMs);
  }

  function run(): void {
    const child = spawn(process.execPath, [...nodeOptions, ...entryOf(program)], {
      env: { NODE_COMPILE_CACHE: compileCache, ...env, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...(fd === undefined ? [] : inheritedFds.map(() => fd))],
    });
    process_ = child;
    let isReady = false;
    isSignalled = false;
    let lastWords: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface({ input: stream }).on('line', (line) => {
          if (stream === child.stderr) lastWords = [...lastWords.slice(-19), line];
          faults.push(...faultsIn(line));
          onLine?.(line);
        });
    whenReady = new Promise((resolve, reject) => {
      child.on('message', (message: { ready?: boolean; operationsPort?: number; mail?: LocalMail }) => {
        if (message.mail) return onMail?.(message.mail);
        operationsPort = message.operationsPort;
        if (!message.ready) return;
        isReady = true;
        resolve();
      });
      child.once('close', (code, signal) =>
        reject(new Error([`${program} ended before it was ready (${code ?? signal})`, ...lastWords].join('\n'))),
      );
    });
    whenReady.catch(() => undefined);
    exited = new Promise((resolve) => {
      child.once('exit', (code) => {
        resolve();
        // An exit code after the start, without a signal from here, means that the process ended itself.
        if (isWanted && isReady && !isSignalled && code !== null)
          faults.push([`${program} ended by itself with ${code}`, ...lastWords].join('\n'));
        startLater(isReady);
      });
      child.on('error', (error) => {
        if (child.pid !== undefined) return;
        resolve();
        failed(error);
      });
    });
  }

  const killAtExit = (): void => void process_.kill('SIGKILL');
  if (killers.size === 0) process.once('exit', killEverything);
  killers.add(killAtExit);
  return {
    program,
    index,
    pid: () => process_.pid,
    ready: () => whenReady,
    operationsPort: () => operationsPort,
    kill: (signal) => {
      isSignalled ||= signal !== 'SIGSTOP' && signal !== 'SIGCONT';
      process_.kill(signal);
    },
    stop: async () => {
      isWanted = false;
      clearInterval(looking);
      killers.delete(killAtExit);
      process_.kill('SIGTERM');
      const timer = setTimeout(() => process_.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Kills the children that must not outlive this process. */
const killers = new Set<() => void>();
const killEverything = (): void => {
  for (const kill of killers) kill();
};
