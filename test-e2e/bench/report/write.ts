import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Outcome, Scenario } from '../harness/scenario.ts';
import type { Comparison } from './compare.ts';
import { bars, distribution, lines } from './plot.ts';
import { describe } from './text.ts';

export interface Ran {
  scenario: Scenario;
  outcome: Outcome;
  comparison: Comparison[];
  /** How long the scenario took, with its preparation. */
  seconds: number;
  error?: string;
}

export interface RunInfo {
  startedAt: string;
  isQuick: boolean;
  deviations: string[];
  problems: string[];
}

const machine = (): Record<string, unknown> => ({
  cores: cpus().length,
  processor: cpus()[0]?.model ?? '',
  memoryGigabytes: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.versions.node,
});

/** Writes the results so far, so that an aborted run has its first scenarios on disk. */
export async function writeReport(directory: string, info: RunInfo, ran: readonly Ran[]): Promise<void> {
  const plots = join(directory, 'plots');
  await mkdir(plots, { recursive: true });
  const json = {
    ...info,
    machine: machine(),
    scenarios: ran.map(({ scenario, outcome, comparison, seconds, error }) => ({
      name: scenario.name,
      title: scenario.title,
      seconds,
      ...(error === undefined ? {} : { error }),
      ...outcome,
      comparison,
    })),
  };
  await writeFile(join(directory, 'report.json'), `${JSON.stringify(json, null, 1)}\n`);
  const texts = ran.map(({ scenario, outcome, comparison, error, seconds }) =>
    [
      describe(scenario, outcome, comparison),
      ...(error === undefined ? [] : [`FAILED: ${error}`]),
      `(${seconds.toFixed(0)} s)`,
    ].join('\n\n'),
  );
  await writeFile(join(directory, 'report.txt'), `${[header(info), ...texts].join('\n\n')}\n`);
  for (const { scenario, outcome } of ran) {
    const { measurements = [], plots: own = [] } = outcome;
    const name = (suffix: string): string => join(plots, `${scenario.name}-${suffix}.svg`);
    if (measurements.length > 0) {
      await writeFile(name('latency'), distribution(`${scenario.name}: latency`, measurements));
      await writeFile(name('cpu'), bars(`${scenario.name}: CPU per unit`, measurements));
    }
    for (const [index, plot] of own.entries()) await writeFile(name(String(index + 1)), lines(plot));
  }
}

export function header({ startedAt, isQuick, deviations, problems }: RunInfo): string {
  return [
    `Natter bench, ${startedAt}${isQuick ? ', QUICK: sizes are small, the figures mean nothing' : ''}`,
    JSON.stringify(machine()),
    'The system runs as `npm start` starts it, fsync, full_page_writes and synchronous_commit on, but:',
    ...deviations.map((deviation) => `- ${deviation}`),
    ...problems.map((problem) => `PROBLEM: ${problem}`),
  ].join('\n');
}
