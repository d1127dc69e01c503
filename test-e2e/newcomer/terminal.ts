import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A shell of a person in the machine at `root`: its directory survives from command to command. */
export interface Terminal {
  /** Runs a command to its end and returns what it printed. Throws if it fails. */
  run(line: string): Promise<string>;
  /** Starts a command that runs until Ctrl-C. */
  start(line: string): Started;
}

export interface Started {
  /** Waits for output that matches, and returns the match. Throws if the command ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the command has ended by itself or by Ctrl-C. */
  ended: Promise<unknown>;
  /** Presses Ctrl-C and waits for the end. */
  interrupt(): Promise<void>;
}

/** Time limit of a command, longer than any command of the page takes. A command that hangs ends the test. */
const longestMs = 20 * 60_000;

export function openTerminal(root: string, environment: Record<string, string>): Terminal {
  let directory = environment.HOME ?? '/';
  const note = '/tmp/directory';
  const spawned = (line: string): { child: ChildProcess; printed: () => string; ended: Promise<number> } => {
    const script = `cd '${directory}' || exit\n${line}\ncode=$?; pwd > ${note}; exit $code`;
    console.log(`$ ${line}`);
    const child = spawn('chroot', [root, '/bin/bash', '-c', script], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, which Ctrl-C reaches as a whole.
      detached: true,
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => {
        printed += data;
      });
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    return { child, printed: () => printed, ended };
  };
  return {
    run: async (line) => {
      const { child, printed, ended } = spawned(line);
      const timer = setTimeout(() => signal(child, 'SIGKILL'), longestMs);
      const code = await ended;
      clearTimeout(timer);
      if (code !== 0) throw new Error(`${line}\nended with ${code}:\n${printed()}`);
      const file = join(root, note);
      directory = readFileSync(file, 'utf8').trim();
      rmSync(file);
      return printed();
    },
    start: (line) => {
      const { child, printed, ended } = spawned(line);
      let hasEnded = false;
      void ended.finally(() => {
        hasEnded = true;
      });
      return {
        ended,
        until: async (pattern) => {
          const until = Date.now() + longestMs;
          for (;;) {
            // `isOver` is computed before the output is read, so that the last output of an ended command is compared too.
            const isOver = hasEnded || Date.now() > until;
            const match = pattern.exec(printed());
            if (match) return match;
            if (isOver) throw new Error(`${line}\nprinted nothing like ${pattern}:\n${printed()}`);
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        },
        interrupt: async () => {
          if (!hasEnded) signal(child, 'SIGINT');
          await ended;
        },
      };
    },
  };
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name);
}
