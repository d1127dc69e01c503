import type { Measurement } from '../harness/measurement.ts';
import type { Outcome, Scenario } from '../harness/scenario.ts';
import type { Comparison } from './compare.ts';
import { number, percent, table } from './format.ts';

/** The human-readable report of one scenario. */
export function describe(scenario: Scenario, outcome: Outcome, comparison: Comparison[]): string {
  const parts = [`## ${scenario.name}: ${scenario.title}`];
  if (outcome.skipped !== undefined) parts.push(`SKIPPED: ${outcome.skipped}`);
  const measurements = outcome.measurements ?? [];
  if (measurements.length > 0) parts.push(latencies(measurements), costs(measurements));
  if (comparison.length > 0) parts.push(figures(comparison));
  parts.push(...(outcome.notes ?? []).map((note) => `- ${note}`));
  return parts.join('\n\n');
}

function latencies(measurements: Measurement[]): string {
  const head = ['', 'per second', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'count', 'failed', 'load CPU', 'machine'];
  return table([
    head,
    ...measurements.map(({ name, unit, isFloor, perSecond, latency, count, failed, loadCpu, machineCpu }) => [
      `${isFloor ? 'floor: ' : ''}${name} (${unit})`,
      number(perSecond),
      ...[latency.p50, latency.p95, latency.p99, latency.max].map(number),
      count.toLocaleString('en'),
      String(failed),
      percent(loadCpu),
      percent(machineCpu),
    ]),
  ]);
}

function costs(measurements: Measurement[]): string {
  const processes = [...new Set(measurements.flatMap((measurement) => Object.keys(measurement.cpu)))];
  const head = ['CPU ms per unit', 'all', ...processes];
  return table([
    head,
    ...measurements.map(({ name, isFloor, cpu }) => [
      `${isFloor ? 'floor: ' : ''}${name}`,
      number(Object.values(cpu).reduce((sum, cost) => sum + cost, 0)),
      ...processes.map((process) => (cpu[process] === undefined ? '' : number(cpu[process]))),
    ]),
  ]);
}

function figures(comparison: Comparison[]): string {
  const head = ['figure', 'now', 'unit', 'to reach', '', 'baseline', 'change'];
  return table([
    head,
    ...comparison.map(({ figure, wanted, verdict, baseline, change }) => [
      figure.name,
      number(figure.value),
      figure.unit,
      wanted,
      verdict,
      baseline === undefined ? '' : number(baseline),
      change === undefined ? '' : `${change >= 0 ? '+' : ''}${percent(change)}`,
    ]),
  ]);
}
