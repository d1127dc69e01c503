import type { Bench } from './bench.ts';
import type { Measurement } from './measurement.ts';

/** A figure that is compared with the baseline and checked against the thresholds. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  better: 'higher' | 'lower';
}

export interface Plot {
  title: string;
  x: string;
  y: string;
  /** Logarithmic axis for sizes that grow by factors. */
  isLogX?: boolean;
  series: { name: string; points: [number, number][] }[];
}

export interface Outcome {
  measurements?: Measurement[];
  figures?: Figure[];
  plots?: Plot[];
  notes?: string[];
  /** The reason why the scenario could not run. Its thresholds count as missed. */
  skipped?: string;
}

export interface Scenario {
  name: string;
  title: string;
  run(bench: Bench): Promise<Outcome>;
}

export const figure = (
  name: string,
  value: number,
  unit: string,
  better: Figure['better'] = unit === '/s' || unit === '× floor' ? 'higher' : 'lower',
): Figure => ({ name, value, unit, better });
