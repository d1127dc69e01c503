import type { Figure } from '../harness/scenario.ts';

/** Thresholds by scenario and figure. */
export type Thresholds = Record<string, Record<string, { atLeast?: number; atMost?: number }>>;
/** Figures of an earlier run, by scenario and figure. */
export type Baseline = Record<string, Record<string, number>>;

export interface Comparison {
  figure: Figure;
  wanted: string;
  verdict: '' | 'reached' | 'MISSED';
  baseline?: number;
  /** Relative change against the baseline. */
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

/** Thresholds without a measurement: a skipped scenario has reached nothing. */
export function unmeasured(scenario: string, figures: readonly Figure[], thresholds: Thresholds): string[] {
  return Object.keys(thresholds[scenario] ?? {}).filter((name) => !figures.some((figure) => figure.name === name));
}

function wantedOf(threshold: { atLeast?: number; atMost?: number } | undefined): string {
  if (threshold?.atLeast !== undefined) return `≥ ${threshold.atLeast.toLocaleString('en')}`;
  return threshold?.atMost === undefined ? '' : `≤ ${threshold.atMost.toLocaleString('en')}`;
}

const reaches = (value: number, { atLeast, atMost }: { atLeast?: number; atMost?: number }): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
