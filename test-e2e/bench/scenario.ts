import type { Bench } from './bench.ts';
import type { Latency } from './statistics.ts';

/** One load under which the system, or a floor, was watched. */
export interface Measurement {
  name: string;
  /** What was counted: a send, a delivery, a register. */
  unit: string;
  isFloor: boolean;
  count: number;
  failed: number;
  perSecond: number;
  latency: Latency;
  curve: [share: number, milliseconds: number][];
  /** Milliseconds of CPU per unit, by process. */
  cpu: Record<string, number>;
  /** Share of one core that the busiest load generator used; it is a bottleneck near 1. */
  loadCpu: number;
  /** Share of all cores that were busy, with whatever else ran on the machine. */
  machineCpu: number;
}

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
  /** Why it could not run; it then reached nothing. */
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
