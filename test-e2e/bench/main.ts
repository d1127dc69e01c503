import { readFile, writeFile } from 'node:fs/promises';
import { localDirectory } from '@natter/local/private-directory';
import { isMeasurable } from '../measure/processes.ts';
import { type Options, parseOptions, usage } from './options.ts';
import type { Baseline, Thresholds } from './report/compare.ts';
import { runAll } from './run.ts';
import { scenarios } from './scenarios/index.ts';

let options: Options;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exit(2);
}
const unknown = options.names.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}\n\n${usage}\n\n${list()}`);
  process.exit(2);
}
if (options.isListed) {
  console.log(list());
  process.exit(0);
}
if (!isMeasurable()) {
  console.error('CPU by process is read from /proc: the benchmark runs on Linux');
  process.exit(2);
}
const directory = localDirectory(options.isQuick ? 'bench-quick' : 'bench');
const chosen = scenarios.filter((scenario) => options.names.length === 0 || options.names.includes(scenario.name));
const { problems, figures, hasFaults } = await runAll(chosen, {
  directory,
  isQuick: options.isQuick,
  isFresh: options.isFresh,
  isProfiled: options.isProfiled,
  thresholds: (await readJson<Thresholds>(options.thresholds)) ?? {},
  baseline: await readJson<Baseline>(options.baseline),
});
if (options.savesBaseline) {
  const before = (await readJson<Baseline>(options.baseline)) ?? {};
  await writeFile(options.baseline, `${JSON.stringify({ ...before, ...figures }, null, 2)}\n`);
}
process.exit(hasFaults || (options.isChecked && problems.length > 0) ? 1 : 0);

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

function list(): string {
  return scenarios.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n');
}
