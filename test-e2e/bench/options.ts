import { parseArgs } from 'node:util';

export interface Options {
  names: string[];
  isQuick: boolean;
  isChecked: boolean;
  isProfiled: boolean;
  isFresh: boolean;
  isListed: boolean;
  thresholds: string;
  baseline: string;
  savesBaseline: boolean;
}

export const usage = `npm run bench -- [options] [scenario ...]

Without names all scenarios run. Results go to .natter/bench/.

  --list            names of the scenarios
  --quick           small sizes and short times, to try the harness; the figures mean nothing
  --profile         CPU profiles of all services and the statements of Postgres, summed up per scenario
  --check           ends with 1 when a threshold is missed, a scenario fails, or the machine was busy
  --thresholds F    thresholds file (test-e2e/bench/thresholds.json)
  --baseline F      figures to compare with (test-e2e/bench/baseline.json)
  --save-baseline   writes the figures of this run to that file
  --fresh           makes the data anew`;

export function parseOptions(args: readonly string[]): Options {
  const here = import.meta.dirname;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      thresholds: { type: 'string', default: `${here}/thresholds.json` },
      baseline: { type: 'string', default: `${here}/baseline.json` },
      'save-baseline': { type: 'boolean', default: false },
    },
  });
  return {
    names: positionals,
    isQuick: values.quick,
    isChecked: values.check,
    isProfiled: values.profile,
    isFresh: values.fresh,
    isListed: values.list,
    thresholds: values.thresholds,
    baseline: values.baseline,
    savesBaseline: values['save-baseline'],
  };
}
