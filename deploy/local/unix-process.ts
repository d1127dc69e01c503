/** Processes by id, and the user that replaces root where a server refuses root. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface RunAs {
  uid?: number;
  gid?: number;
}

/** The user nobody if this process is root, otherwise the current user. */
export function unprivileged(): RunAs {
  if (process.getuid?.() !== 0) return {};
  const line = readOrEmpty('/etc/passwd')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

export function canEnter(directory: string, runAs: RunAs): boolean {
  if (runAs.uid === undefined) return true;
  return spawnSync('test', ['-x', directory], { cwd: '/', stdio: 'ignore', ...runAs }).status === 0;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A zombie process can still be signalled.
  return !/^\d+ \(.*\) Z /s.test(readOrEmpty(`/proc/${pid}/stat`));
}

/** Arguments separated by spaces; empty if there is no such process. */
export function commandLineOf(pid: number): string {
  if (process.platform === 'linux') return readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
}

export function parentOf(pid: number): number {
  if (process.platform === 'linux')
    return Number(/^\d+ \(.*\) \S (\d+) /s.exec(readOrEmpty(`/proc/${pid}/stat`))?.[1] ?? 0);
  return Number(spawnSync('ps', ['-p', String(pid), '-o', 'ppid='], { encoding: 'utf8' }).stdout ?? 0);
}

export function childrenOf(pid: number): number[] {
  if (process.platform === 'linux') return numbers(readOrEmpty(`/proc/${pid}/task/${pid}/children`));
  return numbers(spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout ?? '');
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

function numbers(text: string): number[] {
  return text.split(/\s+/).filter(Boolean).map(Number);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
