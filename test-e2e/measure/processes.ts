import { readdirSync, readFileSync } from 'node:fs';

/** Processes by name, looked up each time, because a restarted child has another pid. */
export type ProcessGroups = Record<string, () => number[]>;

const ticksPerSecond = 100;

/** Milliseconds of CPU that each group has used so far. The kernel counts in ticks of 10 ms, so measure for seconds. */
export function cpuOf(groups: ProcessGroups): Record<string, number> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids().reduce((sum, pid) => sum + cpuOfProcess(pid), 0)]),
  );
}

/** Includes all threads, and ended children: Postgres runs a process per connection. */
function cpuOfProcess(pid: number): number {
  const fields = statOf(pid);
  // utime, stime, cutime, cstime are fields 14 to 17; the first two fields are cut off.
  const own = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
  return (own * 1000) / ticksPerSecond + childrenOf(pid).reduce((sum, child) => sum + cpuOfProcess(child), 0);
}

/** Resident memory of each group in bytes, exclusive or shared. */
export function memoryOf(groups: ProcessGroups): Record<string, number> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids().reduce((sum, pid) => sum + residentBytes(pid), 0)]),
  );
}

const lookEveryMs = 1_000;

/** The highest resident memory of each group until `stop`, in bytes. */
export function watchHighestMemory(groups: ProcessGroups): { stop(): Record<string, number> } {
  const highest: Record<string, number> = {};
  const look = (): void => {
    for (const [name, bytes] of Object.entries(memoryOf(groups))) highest[name] = Math.max(highest[name] ?? 0, bytes);
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return highest;
    },
  };
}

function residentBytes(pid: number): number {
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0);
  return kilobytes * 1024;
}

/** Busy and total ticks of all cores since boot. */
export function machineTicks(): { busy: number; total: number } {
  const [, ...ticks] = (readOrEmpty('/proc/stat').split('\n')[0] ?? '').split(/\s+/).map(Number);
  const total = ticks.slice(0, 8).reduce((sum, tick) => sum + tick, 0);
  return { busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0), total };
}

export function differenceOf(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
}

function statOf(pid: number): string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function childrenOf(pid: number): number[] {
  return readOrEmpty(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Processes may end between two reads. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export const isMeasurable = (): boolean => {
  try {
    return readdirSync('/proc/self/task').length > 0;
  } catch {
    return false;
  }
};
