import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { table } from './format.ts';

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  /** Microseconds of the same clock as `now`. */
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** CPU time of the processes since a moment, by function, summed over all profiles of a folder. */
export function summarise(folder: string, sinceMs: number): string {
  const spent = new Map<string, number>();
  let busy = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    let at = profile.startTime;
    for (const [index, sample] of profile.samples.entries()) {
      at += profile.timeDeltas[index] ?? 0;
      // Earlier samples are of the loading of modules.
      if (at < sinceMs * 1000) continue;
      const name = names.get(sample) ?? '?';
      if (name.startsWith('(idle)') || name.startsWith('(program)')) continue;
      const delta = Math.max(profile.timeDeltas[index] ?? 0, 0);
      spent.set(name, (spent.get(name) ?? 0) + delta);
      busy += delta;
    }
  }
  const top = [...spent].sort(([, a], [, b]) => b - a).slice(0, 30);
  return table([
    ['self time by function', 'ms', 'share'],
    ...top.map(([name, time]) => [name, (time / 1000).toFixed(0), `${((time / busy) * 100).toFixed(1)} %`]),
  ]);
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const parts = url.split('/');
  const place = url.includes('node_modules')
    ? parts.slice(parts.lastIndexOf('node_modules') + 1).join('/')
    : parts.slice(-3).join('/') || basename(url);
  return `${functionName || '(anonymous)'}${place ? ` ${place}:${lineNumber + 1}` : ''}`;
}
