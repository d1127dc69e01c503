import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faults } from '@natter/local/child';
import { now } from '../measure/statistics.ts';
import { openBench } from './harness/bench.ts';
import type { Figure, Outcome, Scenario } from './harness/scenario.ts';
import { full, quick } from './harness/sizes.ts';
import type { Variant } from './harness/system-under-test.ts';
import { type Baseline, compare, type Thresholds, unmeasured } from './report/compare.ts';
import { summarise } from './report/profile.ts';
import { watchStatements } from './report/statements.ts';
import { describe } from './report/text.ts';
import { header, type Ran, type RunInfo, writeReport } from './report/write.ts';

export interface RunOptions {
  directory: string;
  isQuick: boolean;
  isFresh: boolean;
  isProfiled: boolean;
  thresholds: Thresholds;
  baseline: Baseline | undefined;
}

/** Runs the scenarios sequentially; a failed one does not stop the others. */
export async function runAll(
  chosen: readonly Scenario[],
  options: RunOptions,
): Promise<{ problems: string[]; figures: Baseline; hasFaults: boolean }> {
  const { directory, isQuick } = options;
  await mkdir(directory, { recursive: true });
  const log = (line: string): void => console.error(`bench: ${line}`);
  const bench = openBench({ directory, sizes: isQuick ? quick : full, isFresh: options.isFresh, log });
  const info: RunInfo = { startedAt: new Date().toISOString(), isQuick, deviations: [], problems: [] };
  const ran: Ran[] = [];
  const deviations = new Set<string>();
  let isInterrupted = false;
  const interrupt = (): void => {
    if (isInterrupted) return;
    isInterrupted = true;
    void bench.close().finally(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);
  try {
    for (const scenario of chosen) {
      log(`${scenario.name}: ${scenario.title}`);
      const startedAt = Date.now();
      const variant = options.isProfiled ? await profileVariant(directory, scenario.name) : {};
      let outcome: Outcome = {};
      let error: string | undefined;
      let profileFrom = 0;
      try {
        await bench.use(variant);
        const endStatements = options.isProfiled ? await watchStatements((text) => bench.sql(text)) : undefined;
        profileFrom = now();
        outcome = await scenario.run(bench);
        if (endStatements)
          await writeFile(join(directory, 'profiles', scenario.name, 'statements.txt'), await endStatements());
      } catch (thrown) {
        if (isInterrupted) break;
        error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
        info.problems.push(`${scenario.name} failed`);
      }
      await bench.followers.clear();
      await bench.floors.clear();
      for (const deviation of bench.target.deviations) deviations.add(deviation);
      info.deviations = [...deviations];
      const { comparison, problems } = judge(scenario.name, outcome.figures ?? [], options);
      info.problems.push(...problems);
      const seconds = (Date.now() - startedAt) / 1000;
      ran.push({ scenario, outcome, comparison, seconds, ...(error === undefined ? {} : { error }) });
      console.log(`\n${describe(scenario, outcome, comparison)}${error === undefined ? '' : `\n\nFAILED: ${error}`}\n`);
      await writeReport(directory, info, ran);
      if (variant.profileTo !== undefined) {
        // Profiles are written when the services stop.
        await bench.use({});
        console.log(await summaryOf(variant.profileTo, profileFrom));
      }
    }
  } finally {
    await bench.close();
  }
  const hasFaults = takeFaults(info);
  console.log(`\n${header(info)}\n\nReport, data and plots: ${directory}`);
  const figures = Object.fromEntries(
    ran.map(({ scenario, outcome }) => [
      scenario.name,
      Object.fromEntries((outcome.figures ?? []).map(({ name, value }) => [name, value])),
    ]),
  );
  return { problems: info.problems, figures, hasFaults };
}

/** Unhandled errors of the services, and processes that ended by themselves, fail every run. */
function takeFaults(info: RunInfo): boolean {
  const found = faults.splice(0);
  info.problems.push(...found.map((fault) => fault.slice(0, 500)));
  return found.length > 0;
}

async function profileVariant(directory: string, name: string): Promise<Variant> {
  const profileTo = join(directory, 'profiles', name);
  await rm(profileTo, { recursive: true, force: true });
  await mkdir(profileTo, { recursive: true });
  return { profileTo };
}

/** Compares the figures of a scenario with the baseline and the thresholds, and prints the missed thresholds. */
function judge(name: string, figures: readonly Figure[], { thresholds, baseline }: RunOptions) {
  const comparison = compare(name, figures, thresholds, baseline);
  const missed = comparison.filter(({ verdict }) => verdict === 'MISSED');
  const problems = [
    ...missed.map(({ figure, wanted }) => `${name}: ${figure.name} is ${figure.value}, to be ${wanted}`),
    ...unmeasured(name, figures, thresholds).map((one) => `${name}: ${one} was not measured`),
  ];
  return { comparison, problems };
}

async function summaryOf(profile: string, from: number): Promise<string> {
  const statements = await readFile(join(profile, 'statements.txt'), 'utf8').catch(() => '');
  const summary = `${summarise(profile, from)}\n\n${statements}\n`;
  await writeFile(join(profile, 'summary.txt'), summary);
  return summary;
}
