import type { Latency } from '../../measure/statistics.ts';

/** One load under which the system or a floor was measured. */
export interface Measurement {
  name: string;
  /** The counted unit: a send, a delivery, a register. */
  unit: string;
  isFloor: boolean;
  count: number;
  failed: number;
  perSecond: number;
  latency: Latency;
  curve: [share: number, milliseconds: number][];
  /** Milliseconds of CPU per unit, by process. */
  cpu: Record<string, number>;
  /** Share of one core used by the busiest load generator; near 1 it is a bottleneck. */
  loadCpu: number;
  /** Share of all cores that were busy, including other work on the machine. */
  machineCpu: number;
}
