import type { Figure } from '../scenario.ts';

/** By scenario and figure: what is to be reached. */
export type Thresholds = Record<string, Record<string, { atLeast?: number; atMost?: number }>>;
/** By scenario and figure: what an earlier run found. */
export type Baseline = Record<string, Record<string, number>>;

export interface Comparison {
  figure: Figure;
  wanted: string;
  verdict: '' | 'reached' | 'MISSED';
  baseline?: number;
  /** Share of the baseline by which it is more (+) or less (−). */
  change?: number;
}

export function compare(
  scenario: string,
  figures: readonly Figure[],
  thresholds: Thresholds,
  baseline: Baseline | undefined,
): Comparison[] {
  return figures.map((figure) => {
    const threshold = thresholds[scenario]?.[figure.name];
    const before = baseline?.[scenario]?.[figure.name];
    return {
      figure,
      wanted: wantedOf(threshold),
      verdict: threshold === undefined ? '' : reaches(figure.value, threshold) ? 'reached' : 'MISSED',
      ...(before === undefined ? {} : { baseline: before, change: before === 0 ? 0 : figure.value / before - 1 }),
    };
  });
}

/** Thresholds that nothing was measured for: a scenario that was skipped has reached nothing. */
export function unmeasured(scenario: string, figures: readonly Figure[], thresholds: Thresholds): string[] {
  return Object.keys(thresholds[scenario] ?? {}).filter((name) => !figures.some((figure) => figure.name === name));
}

function wantedOf(threshold: { atLeast?: number; atMost?: number } | undefined): string {
  if (threshold?.atLeast !== undefined) return `≥ ${threshold.atLeast.toLocaleString('en')}`;
  return threshold?.atMost === undefined ? '' : `≤ ${threshold.atMost.toLocaleString('en')}`;
}

const reaches = (value: number, { atLeast, atMost }: { atLeast?: number; atMost?: number }): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
