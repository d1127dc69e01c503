import { cpuOf, differenceOf, machineTicks, type ProcessGroups } from '../../measure/processes.ts';
import { curveOf, latencyOf } from '../../measure/statistics.ts';
import type { LoadResult } from '../load/job.ts';
import type { Measurement } from './measurement.ts';

export interface Watched {
  name: string;
  unit: string;
  isFloor?: boolean;
  groups: ProcessGroups;
  /** Number of units, if they are not the answers to the load. */
  countOf?: (result: LoadResult) => number;
}

/** Runs a load and returns its rate, latency and CPU cost by process. */
export async function watch(
  { name, unit, groups, isFloor = false, countOf }: Watched,
  run: () => Promise<LoadResult>,
): Promise<{ measurement: Measurement; result: LoadResult }> {
  const cpuBefore = cpuOf(groups);
  const machineBefore = machineTicks();
  const result = await run();
  const used = differenceOf(cpuOf(groups), cpuBefore);
  const machine = machineTicks();
  const count = countOf?.(result) ?? result.samples.length;
  if (result.failed > result.samples.length / 100)
    throw new Error(
      `${name}: ${result.failed} failed, ${result.samples.length} did not: ${result.failures.join(' | ')}`,
    );
  const cpu = Object.fromEntries(
    Object.entries(used)
      .filter(([, milliseconds]) => milliseconds > 0)
      .map(([process, milliseconds]) => [process, milliseconds / Math.max(count, 1)]),
  );
  const measurement: Measurement = {
    name,
    unit,
    isFloor,
    count,
    failed: result.failed,
    perSecond: count / result.seconds,
    latency: latencyOf(result.samples),
    curve: curveOf(result.samples),
    cpu,
    loadCpu: result.cpuMs / (result.seconds * 1000),
    machineCpu: (machine.busy - machineBefore.busy) / Math.max(machine.total - machineBefore.total, 1),
  };
  return { measurement, result };
}
