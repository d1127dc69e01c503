import { memoryOf } from '../measure/processes.ts';

interface Sample {
  atMs: number;
  mib: number;
}

/** Resident memory of processes during a run. */
export interface MemoryWatch {
  /** A Markdown table: a row for each name, about the process that lived longest under it. */
  table(): string;
  stop(): void;
}

const everyMs = 5_000;
const hourMs = 3_600_000;

/** `processes`: the names of all processes and their current pids. */
export function watchMemory(processes: () => (readonly [name: string, pid: number | undefined])[]): MemoryWatch {
  const byName = new Map<string, Map<number, Sample[]>>();
  const look = (): void => {
    for (const [name, pid] of processes()) {
      if (pid === undefined) continue;
      const mib = (memoryOf({ it: () => [pid] }).it ?? 0) / 2 ** 20;
      // A process that has just ended.
      if (mib === 0) continue;
      const byPid = byName.get(name) ?? new Map<number, Sample[]>();
      byName.set(name, byPid);
      const samples = byPid.get(pid) ?? [];
      byPid.set(pid, samples);
      samples.push({ atMs: Date.now(), mib });
    }
  };
  const timer = setInterval(look, everyMs);
  look();
  return {
    stop: () => clearInterval(timer),
    table: () =>
      [
        '| Process | Minutes without a restart | MiB at first | MiB at most | MiB at last | MiB per hour, second half |',
        '| --- | --- | --- | --- | --- | --- |',
        ...[...byName].map(([name, byPid]) => {
          const samples = [...byPid.values()].reduce((a, b) => (b.length > a.length ? b : a));
          const [first, last] = [samples[0], samples.at(-1)];
          const minutes = ((last?.atMs ?? 0) - (first?.atMs ?? 0)) / 60_000;
          const most = Math.max(...samples.map(({ mib }) => mib));
          const figures = [minutes, first?.mib ?? 0, most, last?.mib ?? 0, slopeOf(samples)];
          return `| ${[name, ...figures.map((figure) => figure.toFixed(0))].join(' | ')} |`;
        }),
      ].join('\n'),
  };
}

/** MiB per hour by least squares, over the second half of the samples: memory grows while caches fill. */
export function slopeOf(all: readonly Sample[]): number {
  const samples = all.slice(Math.floor(all.length / 2));
  const mean = (value: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + value(sample), 0) / samples.length;
  const [atMs, mib] = [mean((sample) => sample.atMs), mean((sample) => sample.mib)];
  const covariance = mean((sample) => (sample.atMs - atMs) * (sample.mib - mib));
  const variance = mean((sample) => (sample.atMs - atMs) ** 2);
  return variance === 0 ? 0 : (covariance / variance) * hourMs;
}
